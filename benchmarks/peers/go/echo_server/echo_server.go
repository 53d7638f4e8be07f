package main

import (
	"log"
	"net"
)

func echo(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 4096)
	for {
		size, err := conn.Read(buffer)
		if err != nil {
			return
		}
		conn.Write(buffer[:size])
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	for err == nil {
		var conn net.Conn
		if conn, err = listener.Accept(); err == nil {
			go echo(conn)
		}
	}
	log.Fatal(err)
}
