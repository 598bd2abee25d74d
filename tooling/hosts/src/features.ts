import { dot, texts } from './demo/texts.ts'
import type { Served } from './serve.ts'
import { Lacking, NotDriven, NotSeen, type Session } from './session.ts'
import { startMs } from './terminal.ts'

/** Something that a server can do, and what a user or a model must then see. */
export interface Feature {
  readonly name: string
  /** Returns the text that was seen. Throws {@link NotSeen} if it is not what it must be. */
  run(session: Session, served: Served): Promise<string>
}

function expectIn(seen: string, ...expected: readonly string[]): string {
  const missing = expected.find((text) => !seen.includes(text))
  if (missing !== undefined) throw new NotSeen(seen || 'the model reads an empty result')
  return linesWith(seen, expected)
}

const maxLine = 200

function linesWith(text: string, expected: readonly string[]): string {
  const lines = text.split('\n').filter((line) => expected.some((part) => line.includes(part)))
  return lines.map((line) => line.trim().slice(0, maxLine)).join('\n')
}

const expectCall =
  (tool: string, expected: string, args = {}): Feature['run'] =>
  async (session) =>
    expectIn(await session.call(tool, args), expected)

const answerForm = async (session: Session, message: string, ...values: readonly string[]): Promise<void> => {
  if (session.answer === undefined) return
  await session.see(new RegExp(message.replace('?', '\\?')))
  await session.answer(...values)
}

const question: Feature['run'] = async (session) => {
  const seen = await session.call('ask', {}, () => answerForm(session, texts.question, 'Ada'))
  return expectIn(seen, texts.greeting('Ada'))
}

async function twoQuestions(session: Session): Promise<string> {
  const seen = await session.call('book', {}, async () => {
    await answerForm(session, texts.question, 'Ada')
    await answerForm(session, texts.secondQuestion, 'Oslo')
  })
  return expectIn(seen, texts.booked('Ada', 3, 'Oslo'))
}

async function listChange(session: Session): Promise<string> {
  await session.call('grow')
  let seen = ''
  // A host may list the tools again between two turns.
  for (let turn = 0; turn < 3 && !seen.includes(texts.grown); turn += 1) seen = await session.call('grown')
  return expectIn(seen, texts.grown)
}

/** A host that takes tasks may tell the model of the result later, beside the conversation. */
async function task(session: Session): Promise<string> {
  const result = await session.call('ship')
  return result.includes(texts.shipped)
    ? result
    : expectIn((await session.hear?.(texts.shipped)) ?? result, texts.shipped)
}

async function progress(session: Session, served: Served): Promise<string> {
  if (session.lacks?.progress !== undefined) throw lacking(session, served, 'progress')
  let seen = ''
  const result = await session.call('copy', {}, async () => {
    seen = (await session.see(/copying file \d/, 3 * texts.progressMs).catch(() => '')) ?? ''
  })
  expectIn(result, texts.copied)
  if (seen === '') throw new NotSeen('the user sees no progress during the call')
  return linesWith(seen, ['copying file'])
}

/** How long a server may wait for a cancellation: hosts send it at once. */
const cancelMs = 6000

async function cancellation(session: Session, served: Served): Promise<string> {
  const { cancel } = session
  if (cancel === undefined) throw lacking(session, served, 'cancellation')
  await session
    .call('wait', {}, async () => {
      await served.event('started', startMs)
      await cancel()
      await served.event('cancelled', cancelMs)
      throw new Cancelled()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Cancelled)) throw error
    })
  return 'the server was told'
}

/** The request of a host that uses a feature. */
const requests = { prompt: /^prompts\//, resource: /^resources\//, progress: undefined, cancellation: undefined }

/** Returns why a feature is not tried. A host whose requests contradict its driver is not said to lack anything. */
function lacking({ lacks = {} }: Session, { messages }: Served, feature: keyof typeof requests): NotSeen {
  const asked = messages.find(({ method }) => requests[feature]?.test(String(method)))?.['method']
  if (asked !== undefined) return new NotDriven(`the host sends ${String(asked)}, and its driver does not use it`)
  const reason = lacks[feature]
  return reason === undefined ? new NotDriven('its driver has no way to try it') : new Lacking(reason)
}

class Cancelled extends Error {}

const patience = 5

/** Waits until the model of a host has the tools of the server: hosts connect while the user types the first prompt. */
export async function waitForTools(session: Session): Promise<void> {
  for (let turn = 0; turn < patience; turn += 1) {
    if (!(await session.call('greet', { name: 'Ada' })).includes('the model has no tool')) return
  }
}

/** What is tried over stdio, over HTTP and behind two instances. */
export const features: readonly Feature[] = [
  { name: 'plain tool', run: expectCall('greet', texts.greeting('Ada'), { name: 'Ada' }) },
  { name: 'structured output', run: expectCall('weather', String(texts.celsius)) },
  { name: 'image and link', run: async (session) => expectIn(await session.call('picture'), dot, texts.uri) },
  { name: 'union as input', run: expectCall('shape', texts.area(9), { kind: 'square', side: 3 }) },
  { name: 'failing tool', run: expectCall('fail', texts.failure) },
  { name: 'task', run: task },
  { name: 'progress', run: progress },
  { name: 'question', run: question },
  { name: 'two questions', run: twoQuestions },
  {
    name: 'page (URL question)',
    async run(session) {
      return expectIn(await session.call('sign_in', {}, () => answerForm(session, texts.page)), texts.signedIn)
    },
  },
  {
    name: 'prompt',
    async run(session, served) {
      if (session.prompt === undefined) throw lacking(session, served, 'prompt')
      return expectIn(await session.prompt('critique', { language: 'Go' }), texts.review('Go'))
    },
  },
  {
    name: 'resource',
    async run(session, served) {
      if (session.read === undefined) throw lacking(session, served, 'resource')
      return expectIn(await session.read(texts.uri), texts.changelog)
    },
  },
  { name: 'list change', run: listChange },
  // It comes last, since some hosts offer the cancelled prompt again.
  { name: 'cancellation', run: cancellation },
]

/** What is tried in a situation of its own. */
export const situations = {
  'restart between two calls': async (session, served) => {
    await session.call('greet', { name: 'Ada' })
    await served.restart()
    return expectIn(await session.call('greet', { name: 'Bob' }), texts.greeting('Bob'))
  },
  'restart while a form is open': async (session, served) => {
    const { answer } = session
    if (answer === undefined) return question(session, served)
    const seen = await session.call('ask', {}, async () => {
      await session.see(/Who are you\?/)
      await served.restart()
      await answer('Ada')
    })
    return expectIn(seen, texts.greeting('Ada'))
  },
  '200 tools': expectCall('greet', texts.greeting('Ada'), { name: 'Ada' }),
  '600 tools with search': async (session) => {
    expectIn(await session.call('search_tools', { query: 'compute the area of a shape' }), 'shape')
    const weather = { name: 'weather', arguments: {} }
    expectIn(await session.call('call_read_only_tool', weather), String(texts.celsius))
    const shape = { name: 'shape', arguments: { kind: 'square', side: 3 } }
    return expectIn(await session.call('call_tool', shape), texts.area(9))
  },
  OAuth: expectCall('greet', texts.greeting('Ada'), { name: 'Ada' }),
} as const satisfies Record<string, Feature['run']>
