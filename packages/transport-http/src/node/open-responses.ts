import type { ServerResponse } from 'node:http'
import { enter, leave, type Rostered } from '../roster.ts'

/** A response whose last byte is not out yet. */
export interface OpenResponse extends Rostered {
  readonly response: ServerResponse
}

/** Keeps a response among the open ones until its last byte is out, or its connection is gone. */
export function keepOpen(open: OpenResponse[], response: ServerResponse): void {
  const entry: OpenResponse = { response, place: -1 }
  enter(open, entry)
  response.on('close', () => leave(open, entry))
}
