package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
)

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, World!"

// As many as a buffer can hold requests.
var answers = bytes.Repeat([]byte(answer), 1024)

// serve tells its port, then runs a goroutine for every connection.
func serve(kind string) error {
	connections := map[string]func(net.Conn) error{"echo": echo, "http": http}
	connection, known := connections[kind]
	if !known {
		return fmt.Errorf("no such server: %s", kind)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			connection(conn)
		}()
	}
}

func echo(conn net.Conn) error {
	buffer := make([]byte, 4096)
	for {
		size, err := conn.Read(buffer)
		if err != nil {
			return err
		}
		if _, err := conn.Write(buffer[:size]); err != nil {
			return err
		}
	}
}

func http(conn net.Conn) error {
	endOfRequest := []byte("\r\n\r\n")
	buffer := make([]byte, 4096)
	size := 0
	for {
		read, err := conn.Read(buffer[size:])
		if err != nil {
			return err
		}
		size += read
		count, answered := 0, 0
		for {
			end := bytes.Index(buffer[answered:size], endOfRequest)
			if end < 0 {
				break
			}
			count++
			answered += end + len(endOfRequest)
		}
		if count > 0 {
			if _, err := conn.Write(answers[:count*len(answer)]); err != nil {
				return err
			}
		}
		if size = copy(buffer, buffer[answered:size]); size == len(buffer) {
			return errors.New("a request is too long")
		}
	}
}
