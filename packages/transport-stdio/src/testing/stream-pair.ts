import { Duplex, PassThrough } from 'node:stream'

/** Creates the two ends of an in-memory connection, each of which ends as a socket does. */
export function streamPair(): readonly [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })]
}
