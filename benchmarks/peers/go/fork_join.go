package main

import "sync"

func fib(n int) int {
	if n < 2 {
		return n
	}
	left := make(chan int, 1)
	go func() { left <- fib(n - 1) }()
	right := fib(n - 2)
	return <-left + right
}

func fibValue(n int) int {
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}

func fibCalls(n int) int {
	return 2*fibValue(n+1) - 1
}

// skynet gives the sum of the leaves from first to first + size - 1.
func skynet(first, size int) int {
	if size == 1 {
		return first
	}
	var children struct {
		sync.WaitGroup
		sums [10]int
	}
	children.Add(10)
	for i := 0; i < 10; i++ {
		go func(i int) {
			children.sums[i] = skynet(first+i*(size/10), size/10)
			children.Done()
		}(i)
	}
	children.Wait()
	sum := 0
	for _, value := range children.sums {
		sum += value
	}
	return sum
}

func skynetTasks(leaves int) int {
	return (10*leaves - 1) / 9
}

// The number of solutions for boards of 0 to 16 columns.
var solutions = [17]int{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512}

// queens gives the number of solutions with the queens of the first rows at board[:row].
func queens(board [16]uint8, row, size int) int {
	if row == size {
		return 1
	}
	var children struct {
		sync.WaitGroup
		sums [16]int
	}
	for column := 0; column < size; column++ {
		if isFree(board[:row], column) {
			board[row] = uint8(column)
			children.Add(1)
			go func(board [16]uint8, column int) {
				children.sums[column] = queens(board, row+1, size)
				children.Done()
			}(board, column)
		}
	}
	children.Wait()
	sum := 0
	for _, value := range children.sums {
		sum += value
	}
	return sum
}

func isFree(board []uint8, column int) bool {
	for row, queen := range board {
		distance := len(board) - row
		difference := int(queen) - column
		if difference == 0 || difference == distance || difference == -distance {
			return false
		}
	}
	return true
}

// A block is a square part of a matrix in row order.
type block struct {
	values []int32
	stride int
}

func newBlock(size int, value func(i int) int) block {
	values := make([]int32, size*size)
	for i := range values {
		values[i] = int32(value(i))
	}
	return block{values, size}
}

func (b block) part(row, column int) block {
	return block{b.values[row*b.stride+column:], b.stride}
}

func (b block) row(row, size int) []int32 {
	start := row * b.stride
	return b.values[start : start+size]
}

// multiply adds a * b to c.
func multiply(a, b, c block, size int) {
	if size <= 32 {
		multiplyPlain(a, b, c, size)
		return
	}
	half := size / 2
	for _, k := range [2]int{0, half} {
		product := func(i, j int) { multiply(a.part(i, k), b.part(k, j), c.part(i, j), half) }
		var forked sync.WaitGroup
		forked.Add(3)
		for _, at := range [3][2]int{{0, 0}, {0, half}, {half, 0}} {
			go func(i, j int) {
				product(i, j)
				forked.Done()
			}(at[0], at[1])
		}
		product(half, half)
		forked.Wait()
	}
}

func multiplyPlain(a, b, c block, size int) {
	for i := 0; i < size; i++ {
		sums := c.row(i, size)
		for k, factor := range a.row(i, size) {
			values := b.row(k, size)[:len(sums)]
			for j := range sums {
				sums[j] += factor * values[j]
			}
		}
	}
}

type matrices struct {
	a, b, c block
	size    int
	sums    []int32 // of the rows of a * b
}

func newMatrices(size int) *matrices {
	m := &matrices{size: size, sums: make([]int32, size)}
	m.a = newBlock(size, func(i int) int { return i * 7 % 101 })
	m.b = newBlock(size, func(i int) int { return i * 13 % 103 })
	m.c = newBlock(size, func(int) int { return 0 })
	for i := range m.sums {
		for k, factor := range m.a.row(i, size) {
			m.sums[i] += factor * sum(m.b.row(k, size))
		}
	}
	return m
}

func (m *matrices) multiply() {
	for i := range m.c.values {
		m.c.values[i] = 0
	}
	multiply(m.a, m.b, m.c, m.size)
	for i, expected := range m.sums {
		check(sum(m.c.row(i, m.size)) == expected)
	}
}

func sum(values []int32) (sum int32) {
	for _, value := range values {
		sum += value
	}
	return sum
}
