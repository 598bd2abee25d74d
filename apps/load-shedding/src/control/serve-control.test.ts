import { request } from 'node:http'
import { expect, test } from 'vitest'
import { createFakeStage } from '../testing/fake-stage.ts'
import { serveControl } from './serve-control.ts'

const missingFolder = '/missing'

async function openControl() {
  const stage = createFakeStage()
  const control = await serveControl(stage, 0, missingFolder)
  const postCommand = (body: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${control.url}api/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
  return { stage, control, postCommand, [Symbol.asyncDispose]: () => control[Symbol.asyncDispose]() }
}

test.each([
  [{ kind: 'overload', instance: 2, on: true }, 'overload 2 true'],
  [{ kind: 'kill', instance: 1 }, 'kill 1'],
  [{ kind: 'restart', instance: 2 }, 'restart 2'],
  [{ kind: 'restartAll' }, 'restartAll'],
  [{ kind: 'shedding', on: false }, 'shedding false'],
  [{ kind: 'burst' }, 'burst 4'],
  [{ kind: 'level', level: 'heavy' }, 'level heavy'],
])('the command %j is run', async (command, expected) => {
  await using fixture = await openControl()
  expect((await fixture.postCommand(JSON.stringify(command))).status).toBe(204)
  expect(fixture.stage.commands).toEqual([expected])
})

test.each([
  ['text that is not JSON', 'kill 1', 400],
  ['an empty body', '', 400],
  ['an unknown command', '{"kind":"explode"}', 400],
  ['an unknown instance', '{"kind":"kill","instance":3}', 400],
  ['a negative instance', '{"kind":"kill","instance":-1}', 400],
  ['an instance that is not a number', '{"kind":"kill","instance":"1"}', 400],
  ['a body above the size limit', `{"kind":"restartAll","more":"${'x'.repeat(1024)}"}`, 413],
])('%s is rejected, and no command is run', async (_, body, status) => {
  await using fixture = await openControl()
  expect((await fixture.postCommand(body)).status).toBe(status)
  expect(fixture.stage.commands).toEqual([])
})

test('the trace and the metrics are JSON that no cache stores', async () => {
  await using fixture = await openControl()
  const view = { spans: [], metrics: [{ name: 'runs', attributes: 'tool=a', count: 2 }] }
  fixture.stage.setTelemetry(view)
  const response = await fetch(`${fixture.control.url}api/telemetry`)
  expect([response.headers.get('cache-control'), await response.json()]).toEqual(['no-store', view])
  expect(await statusFor(`${fixture.control.url}api/telemetry`, 'evil.example')).toBe(403)
})

test('requests of another site are rejected, and commands must be posted', async () => {
  await using fixture = await openControl()
  expect((await fixture.postCommand('{"kind":"restartAll"}', { origin: 'https://evil.example' })).status).toBe(403)
  expect((await fixture.postCommand('{"kind":"restartAll"}', { 'content-type': 'text/plain' })).status).toBe(415)
  expect(await statusFor(`${fixture.control.url}api/events`, 'evil.example')).toBe(403)
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${fixture.control.url}api/commands`, { headers })).status).toBe(405)
  expect((await fetch(`${fixture.control.url}api/other`)).status).toBe(404)
  expect(fixture.stage.commands).toEqual([])
})

test('the first event has the whole history, and later events have the new points', async () => {
  await using fixture = await openControl()
  const point = { perSecond: 1, movesPerSecond: 0, p50Ms: 5, p99Ms: 9, delays: [0, null] }
  fixture.stage.update({
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
      fixture.stage.update({
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

/** Returns the status of a request with another host name, as in DNS rebinding. */
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
