import { Duplex, PassThrough } from 'node:stream'

/** Both ends of a connection in memory. Each behaves like a socket when it is closed. */
export function streamPair(): readonly [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })]
}
