import { request } from 'node:http'
import { expect, test } from 'vitest'
import { stillStage } from '../testing/still-stage.ts'
import { serveControl } from './serve-control.ts'

const nowhere = '/nowhere'

async function served() {
  const stage = stillStage()
  const control = await serveControl(stage, 0, nowhere)
  const order = (body: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${control.url}api/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
  return { stage, control, order, [Symbol.asyncDispose]: () => control[Symbol.asyncDispose]() }
}

test.each([
  [{ do: 'overload', instance: 2, on: true }, 'overload 2 true'],
  [{ do: 'kill', instance: 1 }, 'kill 1'],
  [{ do: 'restart', instance: 2 }, 'restart 2'],
  [{ do: 'roll' }, 'roll'],
  [{ do: 'shedding', on: false }, 'shedding false'],
  [{ do: 'burst' }, 'burst 4'],
  [{ do: 'level', level: 'heavy' }, 'level heavy'],
])('%j is done', async (command, asked) => {
  await using fixture = await served()
  expect((await fixture.order(JSON.stringify(command))).status).toBe(204)
  expect(fixture.stage.asked).toEqual([asked])
})

test.each([
  ['no JSON', 'kill 1', 400],
  ['nothing', '', 400],
  ['a command that there is not', '{"do":"explode"}', 400],
  ['an instance that there is not', '{"do":"kill","instance":3}', 400],
  ['an instance that none can be', '{"do":"kill","instance":-1}', 400],
  ['an instance that is no number', '{"do":"kill","instance":"1"}', 400],
  ['a body beyond the bound', `{"do":"roll","more":"${'x'.repeat(1024)}"}`, 413],
])('%s is refused, and nothing is done', async (_, body, status) => {
  await using fixture = await served()
  expect((await fixture.order(body)).status).toBe(status)
  expect(fixture.stage.asked).toEqual([])
})

test('the trace and the metrics are JSON that no cache stores', async () => {
  await using fixture = await served()
  const view = { spans: [], metrics: [{ name: 'runs', attributes: 'tool=a', count: 2 }] }
  fixture.stage.record(view)
  const response = await fetch(`${fixture.control.url}api/telemetry`)
  expect([response.headers.get('cache-control'), await response.json()]).toEqual(['no-store', view])
  expect(await statusFor(`${fixture.control.url}api/telemetry`, 'evil.example')).toBe(403)
})

test('another site can neither see nor do anything, and only commands are posted', async () => {
  await using fixture = await served()
  expect((await fixture.order('{"do":"roll"}', { origin: 'https://evil.example' })).status).toBe(403)
  expect((await fixture.order('{"do":"roll"}', { 'content-type': 'text/plain' })).status).toBe(415)
  expect(await statusFor(`${fixture.control.url}api/events`, 'evil.example')).toBe(403)
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${fixture.control.url}api/commands`, { headers })).status).toBe(405)
  expect((await fetch(`${fixture.control.url}api/other`)).status).toBe(404)
  expect(fixture.stage.asked).toEqual([])
})

test('a reader gets all of the history first, and then what is new', async () => {
  await using fixture = await served()
  const point = { perSecond: 1, movesPerSecond: 0, p50Ms: 5, p99Ms: 9, delays: [0, null] }
  fixture.stage.change({
    points: [
      { at: 1, ...point },
      { at: 2, ...point },
    ],
  })
  const stop = new AbortController()
  const response = await fetch(`${fixture.control.url}api/events`, { signal: stop.signal })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const seen: number[][] = []
  let rest = ''
  for await (const bytes of response.body ?? []) {
    rest += Buffer.from(bytes).toString('utf8')
    const events = rest.split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const { points } = JSON.parse(event.replace(/^data: /, ''))
      seen.push(points.map(({ at }: { at: number }) => at))
    }
    if (seen.length === 2)
      fixture.stage.change({
        points: [
          { at: 2, ...point },
          { at: 3, ...point },
        ],
      })
    if (seen.some((points) => points.includes(3))) break
  }
  expect(seen[0]).toEqual([1, 2])
  expect(seen.flat()).toEqual([1, 2, 3])
})

/** The status for a request that calls the server by another name, as a site does whose name was made to point here. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host }, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })
}
