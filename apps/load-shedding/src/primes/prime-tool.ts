import { tool, type Tool } from '@x/server'
import * as z from 'zod'
import type { InstanceMessage } from '../instance/instance-message.ts'
import { countChunk, emptyTally, type Tally } from './tally.ts'

/** The `_meta` key of the id that identifies a call on the board. */
export const callKey = 'dev.x/call'

const output = z.object({
  limit: z.number().int(),
  primes: z.number().int(),
  checksum: z.string().describe('Depends on every prime and on their order'),
})

/** Counts the primes of the next chunk, up to a limit. */
export type CountChunk = (tally: Tally, limit: number) => Tally

/** Creates the tool, which saves a checkpoint after each chunk. Any instance can continue from a checkpoint. */
export function countPrimes(report: (message: InstanceMessage) => void, count: CountChunk = countChunk): Tool {
  return tool('count_primes', {
    description: 'Counts the primes up to a number, one by one',
    annotations: { readOnlyHint: true },
    input: z.object({ limit: z.number().int().min(2).max(50_000_000) }),
    output,
    async run({ limit }, ctx) {
      const call = parseCallId(ctx.meta[callKey]) ?? ctx.uuid('call')
      const tally = ctx.checkpoint('tally', emptyTally)
      report({ kind: 'begin', call, limit, next: tally.value.next })
      try {
        while (tally.value.next <= limit) {
          const counted = count(tally.value, limit)
          report({ kind: 'work', call, from: tally.value.next, next: counted.next })
          await tally.save(counted)
        }
      } finally {
        report({ kind: 'end', call })
      }
      const { primes, checksum } = tally.value
      return { limit, primes, checksum: checksum.toString(16).padStart(8, '0') }
    },
  })
}

function parseCallId(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 64 ? value : undefined
}
