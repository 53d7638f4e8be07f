package main

import (
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func between(random *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(random.Int63n(int64(to-from)))
}

// timerCancel uses AfterFunc: the timer of a channel is not registered until somebody waits for it.
func timerCancel(n int) []float64 {
	const times = 500_000
	random := rand.New(rand.NewSource(1))
	timer := func() *time.Timer {
		return time.AfterFunc(between(random, 60*time.Second, 120*time.Second), func() {})
	}
	live := make([]*time.Timer, n)
	for i := range live {
		live[i] = timer()
	}
	start := time.Now()
	for i := 0; i < times; i++ {
		check(timer().Stop())
	}
	elapsed := time.Since(start)
	runtime.KeepAlive(live)
	return []float64{float64(elapsed) / times}
}

func timerFire(n int) []float64 {
	random := rand.New(rand.NewSource(1))
	var worst atomic.Int64
	var tasks sync.WaitGroup
	cpu := cpuTime()
	start := time.Now()
	tasks.Add(n)
	for i := 0; i < n; i++ {
		go func(deadline time.Time) {
			time.Sleep(time.Until(deadline))
			late := int64(time.Since(deadline))
			for old := worst.Load(); late > old && !worst.CompareAndSwap(old, late); {
				old = worst.Load()
			}
			tasks.Done()
		}(start.Add(between(random, 1500*time.Millisecond, 2500*time.Millisecond)))
	}
	tasks.Wait()
	cpu = cpuTime() - cpu
	return []float64{float64(cpu) / float64(n), float64(worst.Load()) / 1e6}
}

// cpuTime gives what the process has used so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
