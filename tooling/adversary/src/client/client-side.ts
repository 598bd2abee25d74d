import type { Attack, Side } from '../attack.ts'
import type { Target } from '../target.ts'
import { startHonestServer, startHostileServer } from './hostile-server.ts'
import { costlyAnswers, endlessAnswers, type HostileAnswer, validAnswer, wrongAnswers } from './hostile-answers.ts'
import { hostileSchemas } from './hostile-schemas.ts'
import type { Use, Used } from './operations.ts'
import { startStepUpServer } from './step-up-server.ts'
import { unsafeUrls } from './unsafe-urls.ts'

/** The hostile server's side of an attack on a client. */
interface HostilePeer extends Disposable {
  readonly target: Target
}

const honestServer = await startHonestServer()

/** Hostile servers against our client, which calls an honest server beside. */
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
  const send = ({ target }: HostilePeer, units: number): Promise<void> => useHostile(target, row, units)
  if (size === undefined) return { name, run: (peer, scale) => repeated(scale, () => send(peer, 0)) }
  if (unitBytes === undefined) return { name, cost: { size, send } }
  const sendValid = ({ target }: HostilePeer, units: number): Promise<void> =>
    useHostile(target, { name: 'valid', wanted: 'served', answer: validAnswer(units * unitBytes) }, units)
  return { name, cost: { size, send, sendValid } }
}

async function repeated(times: number, run: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time += 1) await run()
}

/** Has the client use a server that answers so, and throws when it makes something else of it than is wanted. */
async function useHostile(
  target: Target,
  { answer, operation = 'callTool', wanted = 'error' }: HostileAnswer,
  size: number,
): Promise<void> {
  await using server = await startHostileServer(answer, size)
  const use: Use = { operation, url: server.url }
  const { error, openedUrls } = await target.ask<Used>('use', use)
  if (openedUrls.length > 0) throw new Error(`the host was to open ${openedUrls[0]}`)
  if (wanted === 'either' || (error !== undefined) === (wanted === 'error')) return
  throw new Error(error === undefined ? 'the client believed the answer' : `the client failed with ${error}`)
}

/** The logins that a client begins at one server within five minutes. */
const maxLogins = 8

async function stepUp({ target }: HostilePeer, scale: number): Promise<void> {
  for (let time = 0; time < scale; time += 1) {
    await using server = await startStepUpServer()
    await target.ask<Used>('use', { operation: 'stepUps', url: server.url } satisfies Use)
    if (server.loginCount !== maxLogins)
      throw new Error(`a server caused ${server.loginCount} logins, ${maxLogins} are wanted`)
  }
}
