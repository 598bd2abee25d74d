import { startPostgres } from '@tooling/real-servers/postgres'
import { fakeTerminal, keys } from '@tooling/vitest/fake-terminal'
import { randomKey } from '@x/state-codec'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import type { Pool } from 'pg'
import { expect, test, vi } from 'vitest'
import { importAll, listOpen, openTracker, completeIssue } from '../src/tracker/host.ts'
import { untilDisconnected } from './until-disconnected.ts'

test('an issue tracker of six tools on PostgreSQL, with its host at a terminal', async () => {
  const postgres = await startPostgres()
  vi.stubEnv('DATABASE_URL', postgres.url)
  vi.stubEnv('STATE_KEYS', randomKey())
  const { server } = await import('../src/tracker/server.ts')
  const { createTables, pool } = await import('../src/tracker/issues.ts')
  vi.unstubAllEnvs()
  await createTables()
  const http = await serveHttp(server)
  const connection = connectHttp(http.url)
  const terminal = fakeTerminal(
    ['What is wrong?', `The door squeaks${keys.enter}`],
    ['How was "The door squeaks" resolved?', `${keys.down}${keys.enter}`],
    ['Note', keys.enter],
  )
  const tracker = openTracker(connection, terminal)

  expect(await completeIssue(tracker, 'ada')).toBe('Issue 1 of ada is duplicate')
  expect(terminal.left()).toEqual([])

  const shown: string[] = []
  const titles = Array.from({ length: 120 }, (_, index) => `Issue ${index + 1}`)
  const resumeImport = await blockInsertion('Issue 60', pool)
  const importing = importAll(tracker, titles, (line) => shown.push(line))
  await expect.poll(() => shown.at(-1)).toBe('59 of 120')
  await resumeImport()
  const ids = await importing
  expect(ids).toEqual(titles.map((_, index) => index + 2))

  const resources = await tracker.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual([1, ...ids].map((id) => `issue://${id}`))
  const reference = { type: 'ref/resource', uri: 'issue://{id}' } as const
  const { completion } = await tracker.complete(reference, { name: 'id', value: '12' })
  expect(completion.values).toEqual(['12', '120', '121'])

  await tracker.tools.assign_issue({ id: 7, assignee: 'bo' })
  expect(await listOpen(tracker, 'bo')).toEqual(['Issue 6'])
  expect(await listOpen(tracker, 'ada')).toEqual([])
  const again = await tracker.tools.close_issue({ id: 1 })
  expect(again).toMatchObject({ isError: true, content: [{ text: 'Issue 1 is closed already' }] })

  await connection.close()
  await http.close()
  await pool.end()
  await untilDisconnected(postgres)
  await postgres.close()
})

/** Blocks the insertion of one issue in the database, until the returned function is called. */
async function blockInsertion(title: string, pool: Pool): Promise<() => Promise<void>> {
  await pool.query(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$;
    CREATE TRIGGER wait_for_test BEFORE INSERT ON issues
      FOR EACH ROW WHEN (NEW.title = '${title}') EXECUTE FUNCTION wait_for_test()`)
  const holder = await pool.connect()
  await holder.query('SELECT pg_advisory_lock(7)')
  return async () => {
    await holder.query('SELECT pg_advisory_unlock(7)')
    holder.release()
  }
}
