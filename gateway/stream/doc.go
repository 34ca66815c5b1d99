// Package stream carries an answer from the engines that bring it to its client.
package stream
