package main

import (
	"os"
	"runtime"
	"sort"
	"sync/atomic"
	"syscall"
	"time"
)

// wakeLatency gives p50 and p99 of the time from a wake until the goroutine runs, in microseconds.
//
// The outside thread is a goroutine with a thread of its own: it sleeps in a system call, writes to
// a pipe that the other goroutine reads, and waits for the answer in a system call. A send on a
// channel is not a wake from outside: the receiver becomes the next goroutine of the sender's own P,
// from where another thread steals it only after a pause.
func wakeLatency(n int) []float64 {
	start := time.Now()
	var ranAt atomic.Int64
	var wake, answer [2]int
	check(syscall.Pipe2(wake[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK) == nil)
	check(syscall.Pipe2(answer[:], syscall.O_CLOEXEC) == nil)
	reader := os.NewFile(uintptr(wake[0]), "pipe")
	times := make(chan []float64)
	go func() {
		runtime.LockOSThread()
		all := make([]float64, n)
		message := []byte{1}
		pause := syscall.NsecToTimespec(int64(200 * time.Microsecond))
		for i := range all {
			syscall.Nanosleep(&pause, nil)
			wokenAt := time.Since(start)
			syscall.Write(wake[1], message)
			syscall.Read(answer[0], message)
			all[i] = float64(ranAt.Load()-int64(wokenAt)) / 1e3
		}
		times <- all
	}()
	message := []byte{0}
	for i := 0; i < n; i++ {
		_, err := reader.Read(message)
		check(err == nil)
		ranAt.Store(int64(time.Since(start)))
		syscall.Write(answer[1], message)
	}
	all := <-times
	sort.Float64s(all)
	return []float64{all[n/2], all[n*99/100]}
}
