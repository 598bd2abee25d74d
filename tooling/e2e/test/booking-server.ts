import { appendFile, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacy } from '@x/legacy'
import { createServer, type McpServer, tool } from '@x/server'
import * as z from 'zod'
import { keys, stateWith } from './asking.ts'

/** Creates a folder for bookings. The caller removes it. */
export const createBookingFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'e2e-bookings-'))

/** Creates a server whose tool asks a question, and then writes a booking to a folder, which is its effect. */
export function createBooking(folder: string): McpServer {
  const book = tool('book', {
    description: 'Books a name that it asks for',
    input: z.object({ id: z.string() }),
    run: async ({ id }, ctx) => {
      const { name } = await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) })
      await appendFile(join(folder, id), `${name}\n`)
      return name
    },
  })
  return createServer({
    name: 'booking',
    version: '1.0.0',
    state: stateWith(keys.first),
    tools: [book],
    extensions: [legacy()],
    log: () => {},
  })
}

/** Returns the names that were booked for each id. */
export async function bookingsIn(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = await readdir(folder)
  const texts = await Promise.all(ids.map((id) => readFile(join(folder, id), 'utf8')))
  return new Map(ids.map((id, index) => [id, (texts[index] ?? '').trim().split('\n')]))
}
