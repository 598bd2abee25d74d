import { stripVTControlCharacters } from 'node:util'
import { type ElicitAnswer, isClientError } from '@x/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Instance } from './fleet/instance-meta.ts'
import { serveOrganization } from './testing/organization.ts'
import { checkBuilt, endStarted, isRunning, start } from './testing/start-app.ts'
import { connect } from './walk-through/connect.ts'

beforeAll(checkBuilt)
afterAll(endStarted)

// The runs mostly wait, so several run at once, each on its own ports.
describe.concurrent('the walk-through', () => {
  test('goes as expected on the emulator, by turns over all instances, and ends', async () => {
    const { code, output } = await start(['--once', '--port', '0']).ended
    expect(output).toContain('3 instances share http://127.0.0.1:')
    for (const landmark of [
      'ado-work-items 0.1.0 speaks 2026-07-28',
      "requires the field Microsoft.VSTS.Common.ResolvedReason (Fixed, Won't Fix, Duplicate, By Design)",
      'round 1, instance 1,',
      'instance 1 is killed on purpose, with SIGKILL. Another instance continues the call.',
      'round 2, instance 2,',
      'round 3, instance 3,',
      'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.',
      'Bug #4301 was not changed: the user declined',
      'Bug #4517 was not changed. Another user changed the work item',
      'A client of 2025-11-25 returns the state of a question (SEP-1685).',
      'revision 2025-11-25. The client declares experimental.requestState.',
      'the answer with the same state: By Design',
      '4533, 4517, 4522, 4544, 4540',
      'is killed on purpose, with SIGKILL, in the middle of a change.',
      'input_required: Resolving Bug #4609, Bug #4610 and Bug #4611 requires a resolution. How were they resolved?',
      '11 of 12 work items were changed: User Story #4601,',
      'Not changed: Task #4612: System.State was rejected',
      '11 are exactly one revision further, 1 is as it was.',
      'All 15 steps went as expected.',
    ]) {
      expect(output.replace(/\s+/g, ' ')).toContain(landmark)
    }
    expect(output.replace(/\s+/g, ' ')).toMatch(
      /elicitation\/create, instance (\d): Resolving Bug #4533 .*instance \1 is killed/,
    )
    const [, killed, other] =
      /instance (\d) is killed on purpose, with SIGKILL, in the middle[^]*?\(instance (\d)\), [\d.]+ s\s+later/.exec(
        output,
      ) ?? []
    expect(Number(other)).toBeGreaterThan(0)
    expect(other).not.toBe(killed)
    expect([...output.matchAll(/instance (\d) ·/g)].map(([, id]) => id).slice(0, 6)).toEqual([
      '1',
      '2',
      '3',
      '1',
      '2',
      '3',
    ])
    expect(output).toBe(stripVTControlCharacters(output))
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(code).toBe(0)
  })

  test('says what went wrong, and ends with 1', async () => {
    await using service = await serveOrganization()
    const environment = { ...service.environment, AZURE_DEVOPS_TOKEN: 'wr0ng-token' }
    const { code, output } = await start(['--once', '--port', '0', '--instances', '1'], environment).ended
    expect(output).toContain('Azure DevOps rejected the access token')
    expect(output).toContain('1 of 3 steps did not go as expected.')
    expect(output).not.toContain('wr0ng-token')
    expect(code).toBe(1)
  })
})

describe.concurrent('with --auth', () => {
  test('rejects requests without a token, and separates the data of two people and a job', async () => {
    const { code, output } = await start(['--once', '--port', '0', '--auth', '--dpop']).ended
    const text = output.replace(/\s+/g, ' ')
    for (const landmark of [
      'bound to the keys of their clients. ada and eve can log in there.',
      '401, WWW-Authenticate: DPoP scope="work_items:read"',
      'This needs the scopes work_items:write',
      '401, WWW-Authenticate: DPoP error="invalid_dpop_proof"',
      'revision 2025-11-25. The client declares experimental.requestState.',
      "it has expired, or is not this user's; tools/list on http://",
      'the server answered -32043 Session not found',
      'to Ada: 1 of 1 work items was changed: User Story #4540.',
      'All 19 steps went as expected.',
    ]) {
      expect(text).toContain(landmark)
    }
    expect(code).toBe(0)
  })
})

describe.concurrent('the service', () => {
  test('continues when an instance is killed, serves after the walk-through, and stops on a signal', async () => {
    await using service = await serveOrganization()
    const app = start(['--port', '0', '--instances', '2'], service.environment)
    const url = await app.url
    const before = await askUntil(url, (seen) => seen.size === 2)
    const [victim] = before.values()
    process.kill(victim?.pid ?? 0, 'SIGKILL')
    const after = await askUntil(url, (seen) => seen.size === 2 && !seen.has(victim?.id ?? 0))
    expect(Math.max(...after.keys())).toBeGreaterThan(Math.max(...before.keys()))

    expect(await resolveWithoutAnswer(url, 4517)).toBe(
      'Resolving Bug #4517 requires a resolution. How was this bug resolved?',
    )

    app.child.kill('SIGINT')
    const { code, output } = await app.ended
    expect(code).toBe(0)
    expect(output).toContain('this walk-through only reads')
    expect(output).toContain('All 7 steps went as expected.')
    expect(output).not.toContain('update_work_item {')
    for (const { pid } of after.values()) expect(isRunning(pid)).toBe(false)
  })

  test('does not outlive the process that started it, even when that has no time to say so', async () => {
    const app = start(['--port', '0', '--instances', '2'])
    const seen = await askUntil(await app.started, (instances) => instances.size === 2)
    app.child.kill('SIGKILL')
    await expect.poll(() => [...seen.values()].filter(({ pid }) => isRunning(pid))).toEqual([])
    await app.ended
  })
})

describe.concurrent('it does not start', () => {
  test('on a port that is taken', async () => {
    await using service = await serveOrganization()
    const { code, errors } = await start(['--once', '--port', new URL(service.url).port]).ended
    expect(errors).toMatch(/^Cannot start: port \d+ is taken by another program: stop that, or give another one/)
    expect(code).toBe(1)
  })

  test.each([
    [['--twice'], {}, "Unknown option '--twice'"],
    [
      [],
      { TASKS_DATABASE: 'postgres://me:s3cret@127.0.0.1:1/tasks' },
      'TASKS_DATABASE cannot be used: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [
      [],
      { AZURE_DEVOPS_ORG: 'contoso', PORT: 'http' },
      'AZURE_DEVOPS_PROJECT is not set: it should be the name of a project\n  AZURE_DEVOPS_TOKEN is not set: it should be a personal access token\n  PORT cannot be used',
    ],
  ])('with the arguments %j and the environment %j', async (args, environment, message) => {
    const { code, errors } = await start(args, environment).ended
    expect(errors).toContain(`Cannot start: ${message}`)
    expect(errors).not.toContain('s3cret')
    expect(code).toBe(1)
  })
})

test('--help says how it is used', async () => {
  const { code, output } = await start(['--help']).ended
  expect(output).toMatch(/^Usage: npm start -- \[options]/)
  expect(code).toBe(0)
})

/** Starts to resolve a bug, and returns the question of the server. */
async function resolveWithoutAnswer(url: string, workItemId: number): Promise<string | undefined> {
  let asked: string | undefined
  const elicit = ({ message }: { readonly message: string }): ElicitAnswer => {
    asked = message
    return { action: 'cancel' }
  }
  const client = connect({ url, onInstance: () => {} })
  await client.callTool('update_work_item', { workItemId, fields: { 'System.State': 'Resolved' } }, { elicit })
  return asked
}

function lostCall(error: unknown): undefined {
  if (!isClientError(error) || error.code !== 'transport') throw error
}

/** Calls the server until instances that satisfy the condition have answered. Every result has to be successful. */
async function askUntil(url: string, enough: (seen: ReadonlyMap<number, Instance>) => boolean) {
  let seen = new Map<number, Instance>()
  const client = connect({ url, onInstance: (instance) => void seen.set(instance.id, instance) })
  while (!enough(seen)) {
    if (seen.size >= 2) seen = new Map()
    // The call that the killed instance was handling is lost. The next call gets a response.
    const result = await client.callTool('get_work_item', { workItemId: 4522 }).catch(lostCall)
    expect(result?.isError ?? false).toBe(false)
  }
  return seen
}
