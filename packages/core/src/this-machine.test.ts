import { expect, test } from 'vitest'
import { isSecureUrl, isThisMachine } from './this-machine.ts'

test.each([
  ['the name', 'localhost'],
  ['the name in capitals', 'LOCALHOST'],
  ['a name under localhost', 'crm.localhost'],
  ['a name under a name under localhost', 'a.crm.localhost'],
  ['an address', '127.0.0.1'],
  ['another address of the loopback network', '127.0.0.2'],
  ['a short notation of an address', '127.1'],
  ['a hexadecimal notation of an address', '0x7f000001'],
  ['the IPv6 address of a URL', '[::1]'],
  ['the IPv6 address of a socket', '::1'],
  ['a long notation of the IPv6 address', '[0:0:0:0:0:0:0:1]'],
  ['an IPv4 client of a socket that listens for both', '::ffff:127.0.0.1'],
  ['the same in a URL', '[::ffff:7f00:1]'],
  ['a name with a port', 'localhost:3000'],
  ['an address with a port', '127.0.0.1:3000'],
  ['an IPv6 address with a port', '[::1]:3000'],
])('%s is this machine', (_, host) => {
  expect(isThisMachine(host)).toBe(true)
})

test.each([
  ['another name', 'example.com'],
  ['a name that ends like localhost', 'mylocalhost'],
  ['a name that begins like localhost', 'localhost.example.com'],
  ['a name that begins like an address', '127.0.0.1.example.com'],
  ['every address of this machine', '0.0.0.0'],
  ['every IPv6 address of this machine', '::'],
  ['another address', '10.0.0.1'],
  ['an address that contains 127', '10.127.0.1'],
  ['another IPv4 address in IPv6', '::ffff:10.0.0.1'],
  ['a user before the name', 'example.com@localhost'],
  ['a path after the name', 'localhost/path'],
  ['a line break in the name', 'local\nhost'],
  ['nothing', ''],
  ['a word that is no address', 'stdio:1:2'],
])('%s is not this machine', (_, host) => {
  expect(isThisMachine(host)).toBe(false)
})

test.each([
  ['https://example.com/', true],
  ['http://localhost:3000/', true],
  ['http://[::1]/', true],
  ['http://example.com/', false],
  ['ftp://localhost/', false],
])('%s is safe for credentials: %s', (url, isSecure) => {
  expect(isSecureUrl(new URL(url))).toBe(isSecure)
})
