// The rows of the comparison on Go.
//
//	peer --rows
//	peer ROW WORKERS N
//	peer serve echo|http WORKERS
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

type row struct {
	name string
	run  func(n int) []float64
}

var rows = []row{
	{"fib", func(n int) []float64 {
		expected := fibValue(n)
		return timed(time.Nanosecond, fibCalls(n), func() { check(fib(n) == expected) })
	}},
	{"skynet", func(n int) []float64 {
		return timed(time.Nanosecond, skynetTasks(n), func() { check(skynet(0, n) == n*(n-1)/2) })
	}},
	{"nqueens", func(n int) []float64 {
		return timed(time.Millisecond, 1, func() { check(queens([16]uint8{}, 0, n) == solutions[n]) })
	}},
	{"matmul", func(n int) []float64 {
		m := newMatrices(n)
		return timed(time.Millisecond, 1, m.multiply)
	}},
	{"spawn_await", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { spawnAwait(n) })
	}},
	{"spawn_batch", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { spawnBatch(n) })
	}},
	{"yield", func(n int) []float64 {
		return timed(time.Nanosecond, 1000*n, func() { yields(1000, n) })
	}},
	{"ping_pong_oneshot", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { pingPongOneshot(n) })
	}},
	{"ping_pong_mpsc", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { pingPongMpsc(n) })
	}},
	{"mpsc_1x1", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { mpsc(1, n) })
	}},
	{"mpsc_4x1", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { mpsc(4, n/4) })
	}},
	{"mutex", func(n int) []float64 {
		return timed(time.Nanosecond, n, func() { mutex(8, n/8) })
	}},
	{"timer_cancel", timerCancel},
	{"timer_fire", timerFire},
	{"idle_task_bytes", idleTaskBytes},
	{"sleeping_task_bytes", sleepingTaskBytes},
	{"wake_latency", wakeLatency},
}

// timed gives the mean time of an operation, in the unit; the work has so many operations.
func timed(unit time.Duration, operations int, work func()) []float64 {
	work()
	start := time.Now()
	for repetitions := 1; ; repetitions++ {
		work()
		if elapsed := time.Since(start); elapsed >= 200*time.Millisecond {
			return []float64{float64(elapsed) / float64(unit) / float64(repetitions) / float64(operations)}
		}
	}
}

func check(ok bool) {
	if !ok {
		panic("wrong result")
	}
}

func fail(message ...any) {
	fmt.Fprintln(os.Stderr, message...)
	os.Exit(2)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fail("no number:", text)
	}
	return value
}

func setWorkers(text string) {
	workers := number(text)
	if workers < 1 {
		fmt.Fprintln(os.Stderr, "not with so many workers")
		os.Exit(3)
	}
	runtime.GOMAXPROCS(workers)
}

func main() {
	arguments := os.Args[1:]
	switch {
	case len(arguments) == 1 && arguments[0] == "--rows":
		for _, row := range rows {
			fmt.Println(row.name)
		}
	case len(arguments) == 3 && arguments[0] == "serve":
		setWorkers(arguments[2])
		fail(serve(arguments[1]))
	case len(arguments) == 3:
		setWorkers(arguments[1])
		n := number(arguments[2])
		for _, row := range rows {
			if row.name == arguments[0] {
				for i, value := range row.run(n) {
					if i > 0 {
						fmt.Print(" ")
					}
					fmt.Printf("%.3f", value)
				}
				fmt.Println()
				return
			}
		}
		fail("no such row:", arguments[0])
	default:
		fail("usage: peer --rows | ROW WORKERS N | serve echo|http WORKERS")
	}
}
