import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emulated } from './testing/emulated.ts'
import { checkBuilt, endStarted, isRunning, start } from './testing/start-app.ts'
import { connect } from './walk-through/connect.ts'

beforeAll(checkBuilt)
afterAll(endStarted)

// The runs mostly wait, so several run at once, each on its own ports.
describe.concurrent('the walk-through', () => {
  test('goes as expected on the emulator, by turns over all instances, and ends', async () => {
    const { code, output } = await start(['--once', '--port', '0']).ended
    const text = output.replace(/\s+/g, ' ')
    for (const landmark of [
      '3 instances share http://127.0.0.1:',
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
      expect(text).toContain(landmark)
    }
    expect(text).toMatch(/elicitation\/create, instance (\d): Resolving Bug #4533 .*instance \1 is killed/)
    expect(text).toMatch(
      /instance (\d) is killed on purpose, with SIGKILL, in the middle.*\(instance (?!\1)\d\), [\d.]+ s later/,
    )
    const answering = [...output.matchAll(/instance (\d) ·/g)].map(([, id]) => id)
    expect(answering.slice(0, 6).join()).toBe('1,2,3,1,2,3')
    expect(output).not.toContain('\u001b')
    expect(code).toBe(0)
  })

  test('says what went wrong, and ends with 1', async () => {
    await using service = await emulated()
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
  test('survives the end of an instance, serves after the walk-through, and stops on a signal', async () => {
    await using service = await emulated()
    const app = start(['--port', '0', '--instances', '2'], service.environment)
    const pids = await findInstances(await app.url)
    app.child.kill('SIGINT')
    const { code, output } = await app.ended
    expect(code).toBe(0)
    expect(output).toContain('this walk-through only reads')
    expect(output).toContain('All 7 steps went as expected.')
    expect(output).not.toContain('update_work_item {')
    expect(pids.filter(isRunning)).toEqual([])
  })

  test('does not outlive the process that started it, even when that has no time to say so', async ({
    expect: expectHere,
  }) => {
    await using service = await emulated()
    const app = start(['--port', '0', '--instances', '2'], service.environment)
    const pids = await findInstances(await app.url)
    app.child.kill('SIGKILL')
    // `expect.poll` needs its test, and another one that runs at once may have ended.
    await expectHere.poll(() => pids.filter(isRunning)).toEqual([])
    await app.ended
  })
})

test.concurrent.each([
  [['--twice'], {}, "Unknown option '--twice'"],
  [
    [],
    { TASKS_DATABASE: 'postgres://me:s3cret@127.0.0.1:1/tasks' },
    'TASKS_DATABASE cannot be used: connect ECONNREFUSED 127.0.0.1:1',
  ],
  [
    [],
    { AZURE_DEVOPS_ORG: 'contoso', AZURE_DEVOPS_TOKEN: 's3cret', PORT: 'http' },
    'AZURE_DEVOPS_PROJECT is not set: it should be the name of a project\n  PORT cannot be used',
  ],
])('with the arguments %j and the environment %j it does not start', async (args, environment, message) => {
  const { code, errors } = await start(args, environment).ended
  expect(errors).toContain(`Cannot start: ${message}`)
  expect(errors).not.toContain('s3cret')
  expect(code).toBe(1)
})

test('--help says how it is used', async () => {
  const { code, output } = await start(['--help']).ended
  expect(output).toMatch(/^Usage: npm start -- \[options]/)
  expect(code).toBe(0)
})

/** Calls the server until two instances have answered, and returns the ids of their processes. */
async function findInstances(url: string): Promise<readonly number[]> {
  const pids = new Set<number>()
  const client = connect({ url, onInstance: ({ pid }) => void pids.add(pid) })
  while (pids.size < 2) await client.callTool('get_work_item', { workItemId: 4522 })
  return [...pids]
}
