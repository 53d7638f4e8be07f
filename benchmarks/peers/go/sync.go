package main

import "sync"

type ping struct{ answer chan pong }
type pong struct{ next chan ping }

func pingPongOneshot(n int) {
	pings := make(chan ping, 1)
	answered := make(chan int, 1)
	go func(next chan ping) {
		count := 0
		for {
			received, open := <-next
			if !open {
				break
			}
			next = make(chan ping, 1)
			received.answer <- pong{next}
			count++
		}
		answered <- count
	}(pings)
	for i := 0; i < n; i++ {
		answer := make(chan pong, 1)
		pings <- ping{answer}
		pings = (<-answer).next
	}
	close(pings)
	check(<-answered == n)
}

func pingPongMpsc(n int) {
	pings := make(chan int, 1)
	pongs := make(chan int, 1)
	go func() {
		for i := range pings {
			pongs <- i
		}
		close(pongs)
	}()
	for i := 0; i < n; i++ {
		pings <- i
		check(<-pongs == i)
	}
	close(pings)
	<-pongs
}

func mpsc(senders, messages int) {
	channel := make(chan int64, 1024)
	var sending sync.WaitGroup
	sending.Add(senders)
	for i := 0; i < senders; i++ {
		go func() {
			for i := 0; i < messages; i++ {
				channel <- int64(i)
			}
			sending.Done()
		}()
	}
	go func() {
		sending.Wait()
		close(channel)
	}()
	var sum int64
	for i := range channel {
		sum += i
	}
	check(sum == int64(senders*(messages*(messages-1)/2)))
}

func mutex(count, locks int) {
	var lock sync.Mutex
	var value int64
	var tasks sync.WaitGroup
	tasks.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			for i := 0; i < locks; i++ {
				lock.Lock()
				value++
				lock.Unlock()
			}
			tasks.Done()
		}()
	}
	tasks.Wait()
	check(value == int64(count*locks))
}
