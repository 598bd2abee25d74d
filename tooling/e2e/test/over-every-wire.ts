import { describe } from 'vitest'
import type { Open } from './wire.ts'
import { openFetch, openHttp, openProxy } from './wires-http.ts'
import { openChild, openStreams } from './wires-stdio.ts'

/** Runs tests once for each way in which bytes reach a server. */
export function overEveryWire(title: string, tests: (open: Open) => void): void {
  const wires: readonly (readonly [string, Open])[] = [
    ['HTTP', openHttp],
    ['HTTP through a proxy', openProxy],
    ['the fetch handler', openFetch],
    ['a stream pair', openStreams],
    ['a child process', openChild],
  ]
  describe.each(wires)(`${title}, over %s`, (_, open) => {
    tests(open)
  })
}
