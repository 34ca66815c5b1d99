module example.com/quiet

go 1.26.0
