import { describe } from 'vitest'
import type { OpenTransport } from './raw-transport.ts'
import { openFetch, openHttp, openProxy } from './raw-transports-http.ts'
import { openChild, openStreams } from './raw-transports-stdio.ts'

/** Runs tests over each transport that carries raw messages. */
export function overEveryRawTransport(title: string, tests: (open: OpenTransport) => void): void {
  const transports: readonly (readonly [string, OpenTransport])[] = [
    ['HTTP', openHttp],
    ['HTTP through a proxy', openProxy],
    ['the fetch handler', openFetch],
    ['a stream pair', openStreams],
    ['a child process', openChild],
  ]
  describe.each(transports)(`${title}, over %s`, (_, open) => {
    tests(open)
  })
}
