package main

import (
	"runtime"
	"sync"
)

func spawnAwait(n int) {
	sum := 0
	for i := 0; i < n; i++ {
		result := make(chan int, 1)
		go func() { result <- 1 }()
		sum += <-result
	}
	check(sum == n)
}

func spawnBatch(n int) {
	results := make([]int, n)
	var tasks sync.WaitGroup
	tasks.Add(n)
	for i := range results {
		go func(result *int) {
			*result = 1
			tasks.Done()
		}(&results[i])
	}
	tasks.Wait()
	sum := 0
	for _, result := range results {
		sum += result
	}
	check(sum == n)
}

func yields(count, n int) {
	var tasks sync.WaitGroup
	tasks.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			for i := 0; i < n; i++ {
				runtime.Gosched()
			}
			tasks.Done()
		}()
	}
	tasks.Wait()
}
