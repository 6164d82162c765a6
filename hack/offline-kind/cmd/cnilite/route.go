//go:build linux

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/binary"
	"errors"
	"net"
	"syscall"
)

// setRoute makes the kernel send what is for podCIDR to gateway, whatever route it had before.
func setRoute(podCIDR string, gateway net.IP) error {
	_, destination, err := net.ParseCIDR(podCIDR)
	if err != nil {
		return err
	}
	message := routeMessage(destination, gateway.To4())

	socket, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(socket) }()
	if err := syscall.Sendto(socket, message, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, syscall.Getpagesize())
	n, _, err := syscall.Recvfrom(socket, answer, 0)
	if err != nil {
		return err
	}
	return acknowledged(answer[:n])
}

// routeMessage is an rtnetlink request: header, rtmsg, and two attributes.
func routeMessage(destination *net.IPNet, gateway net.IP) []byte {
	ones, _ := destination.Mask.Size()
	body := []byte{
		syscall.AF_INET, byte(ones), 0, 0,
		syscall.RT_TABLE_MAIN, syscall.RTPROT_STATIC, syscall.RT_SCOPE_UNIVERSE, syscall.RTN_UNICAST,
		0, 0, 0, 0,
	}
	for _, attribute := range []struct {
		kind uint16
		ip   net.IP
	}{{syscall.RTA_DST, destination.IP.To4()}, {syscall.RTA_GATEWAY, gateway}} {
		body = binary.NativeEndian.AppendUint16(body, syscall.SizeofRtAttr+net.IPv4len)
		body = binary.NativeEndian.AppendUint16(body, attribute.kind)
		body = append(body, attribute.ip...)
	}
	const flags = syscall.NLM_F_REQUEST | syscall.NLM_F_ACK | syscall.NLM_F_CREATE | syscall.NLM_F_REPLACE
	message := binary.NativeEndian.AppendUint32(nil, uint32(syscall.NLMSG_HDRLEN+len(body)))
	message = binary.NativeEndian.AppendUint16(message, syscall.RTM_NEWROUTE)
	message = binary.NativeEndian.AppendUint16(message, flags)
	message = binary.NativeEndian.AppendUint32(message, 1) // sequence number
	message = binary.NativeEndian.AppendUint32(message, 0) // the kernel fills in the sender
	return append(message, body...)
}

// acknowledged reads the kernel's answer: an error message whose code is zero is a yes.
func acknowledged(answer []byte) error {
	messages, err := syscall.ParseNetlinkMessage(answer)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.Header.Type != syscall.NLMSG_ERROR || len(m.Data) < 4 {
			continue
		}
		if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
			return syscall.Errno(-code)
		}
		return nil
	}
	return errors.New("the kernel did not acknowledge the route")
}
