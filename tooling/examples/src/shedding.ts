import { createServer, type McpServer, sealedState, type StateCodec, tool } from '@x/server'
import { measureLoad } from '@x/server/node'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

// #region steps
/** The data of the tool below. */
export interface Archive {
  readonly pages: (book: string) => Promise<number>
  readonly index: (book: string, page: number, idempotencyKey: string) => Promise<number>
}

export const indexBook = (archive: Archive) =>
  tool('index_book', {
    description: 'Indexes every page of a book',
    input: z.object({ book: z.string() }),
    async run({ book }, ctx) {
      const pages = await ctx.step('pages', () => archive.pages(book))
      let words = 0
      for (let page = 1; page <= pages; page++) {
        words += await ctx.step(`index/${page}`, ({ idempotencyKey }) => archive.index(book, page, idempotencyKey))
      }
      return `${words} words on ${pages} pages`
    },
  })
// #endregion

// #region compute
export const countPrimes = tool('count_primes', {
  description: 'Counts the primes up to a number',
  input: z.object({ limit: z.number().int().max(100_000_000) }),
  async run({ limit }, ctx) {
    const progress = ctx.checkpoint('counted', { next: 2, primes: 0 })
    while (progress.value.next <= limit) {
      const { next, primes } = progress.value
      const end = Math.min(next + 1000, limit + 1)
      let found = primes
      for (let number = next; number < end; number++) if (isPrime(number)) found++
      await progress.save({ next: end, primes: found })
    }
    return `${progress.value.primes} primes up to ${limit}`
  },
})

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false
  return true
}
// #endregion

// #region serve
export const server = (state: StateCodec, archive: Archive): McpServer =>
  createServer({ name: 'archive', version: '1.0.0', state, tools: [indexBook(archive), countPrimes] })

export const serve = (served: McpServer): Promise<HttpServer> =>
  serveHttp(served, { port: Number(process.env['PORT'] ?? 0), stopOnSignals: { noticeMs: 5000, graceMs: 20_000 } })
// #endregion

// #region options
export const tuned = (): McpServer =>
  createServer({
    name: 'primes',
    version: '1.0.0',
    state: sealedState({ keys: (process.env['STATE_KEYS'] ?? '').split(',') }),
    tools: [countPrimes],
    shedding: {
      load: measureLoad(),
      hardLimit: { running: 1000, eventLoopDelayMs: 2000 },
    },
  })
// #endregion
