import { Duplex, PassThrough } from 'node:stream'

/** Two ends of one connection in memory, which end as the two ways of a socket do. */
export function streamPair(): readonly [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })]
}
