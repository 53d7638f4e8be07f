package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

func idleTaskBytes(n int) []float64 {
	never := make(chan struct{})
	return bytesEach(n, func() { <-never })
}

func sleepingTaskBytes(n int) []float64 {
	return bytesEach(n, func() { time.Sleep(time.Hour) })
}

// bytesEach gives the growth of resident memory for each of n goroutines that wait.
func bytesEach(n int, wait func()) []float64 {
	var waiting atomic.Int64
	before := residentBytes()
	for i := 0; i < n; i++ {
		go func() {
			waiting.Add(1)
			wait()
		}()
		if i%64 == 0 {
			runtime.Gosched() // what grows is their memory, not a queue
		}
	}
	for waiting.Load() < int64(n) {
		runtime.Gosched()
	}
	return []float64{(residentBytes() - before) / float64(n)}
}

func residentBytes() float64 {
	statm, err := os.ReadFile("/proc/self/statm")
	check(err == nil)
	var size, resident int
	_, err = fmt.Sscan(string(statm), &size, &resident)
	check(err == nil)
	return float64(resident * os.Getpagesize())
}
