import type { AddressInfo } from 'node:net'
import { echoByHand } from '../http/echo-by-hand.ts'

const server = echoByHand().listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})
