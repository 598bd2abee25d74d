import type { Attack, Side } from '../attack.ts'
import type { Target } from '../target.ts'
import { startHonestServer, startHostileServer } from './hostile-server.ts'
import { costlyAnswers, endlessAnswers, type HostileAnswer, validAnswer, wrongAnswers } from './hostile-answers.ts'
import { hostileSchemas } from './hostile-schemas.ts'
import type { OperationRequest, OperationOutcome } from './operations.ts'
import { startStepUpServer } from './step-up-server.ts'
import { unsafeUrls } from './unsafe-urls.ts'

/** The peer of an attack on a client. */
interface HostilePeer extends Disposable {
  readonly target: Target
}

const honestServer = await startHonestServer()

/** Attacks by hostile servers on our client, which calls an honest server at the same time. */
export const clientSide: Side<HostilePeer> & AsyncDisposable = {
  program: 'client/target-client.js',
  connect: async (target) => ({ target, [Symbol.dispose]: () => {} }),
  startHonest: async (target) => {
    await target.ask('startHonest', { url: honestServer.url })
    return { stop: () => target.ask('stopHonest') }
  },
  classes: {
    'costly answers': costlyAnswers.map(attackBy),
    'wrong answers': wrongAnswers.map(attackBy),
    'endless answers': endlessAnswers.map(attackBy),
    schemas: hostileSchemas.map(attackBy),
    persons: [...unsafeUrls.map(attackBy), { name: 'endless-step-ups', run: stepUp }],
  },
  [Symbol.asyncDispose]: () => honestServer.close(),
}

function attackBy(row: HostileAnswer): Attack<HostilePeer> {
  const { name, size, unitBytes } = row
  const send = ({ target }: HostilePeer, units: number): Promise<void> => callHostileServer(target, row, units)
  if (size === undefined) return { name, run: (peer, scale) => repeated(scale, () => send(peer, 0)) }
  if (unitBytes === undefined) return { name, cost: { size, send } }
  const sendValid = ({ target }: HostilePeer, units: number): Promise<void> =>
    callHostileServer(target, { name: 'valid', expected: 'served', answer: validAnswer(units * unitBytes) }, units)
  return { name, cost: { size, send, sendValid } }
}

async function repeated(times: number, run: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time += 1) await run()
}

/** Lets the client run an operation on a hostile server, and throws for an unexpected outcome. */
async function callHostileServer(
  target: Target,
  { answer, operation = 'callTool', expected = 'error' }: HostileAnswer,
  size: number,
): Promise<void> {
  await using server = await startHostileServer(answer, size)
  const request: OperationRequest = { operation, url: server.url, isServed: expected === 'served' }
  const { error, openedUrls } = await target.ask<OperationOutcome>('runOperation', request)
  if (openedUrls.length > 0) throw new Error(`the client asked the host to open ${openedUrls[0]}`)
  if (expected === 'either' || (error !== undefined) === (expected === 'error')) return
  throw new Error(error === undefined ? 'the client accepted the response' : `the client failed with ${error}`)
}

/** The limit of logins that a client starts at one server within five minutes. */
const maxLogins = 8

async function stepUp({ target }: HostilePeer, scale: number): Promise<void> {
  for (let time = 0; time < scale; time += 1) {
    await using server = await startStepUpServer()
    await target.ask<OperationOutcome>('runOperation', {
      operation: 'stepUps',
      url: server.url,
    } satisfies OperationRequest)
    if (server.loginCount !== maxLogins)
      throw new Error(`a server caused ${server.loginCount} logins, expected ${maxLogins}`)
  }
}
