module peer

go 1.23
