import { createClient, type ElicitAnswer } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { createRecordingFetch, type WireMessage } from './record-messages.ts'
import { type Expected, killInstanceThatAsked } from './resolve-in-rounds.ts'
import { expect, type Line, type Step, type StepScope } from './step.ts'
import { textOf } from './text-of.ts'

/** A call by a client of an older revision, with the expected question. */
export interface OlderPlan {
  readonly title: string
  readonly workItemId: number
  readonly question: Expected
  /** The text that the result must contain. */
  readonly say: string
}

/**
 * Resolves a work item as a client of 2025-11-25 that returns the `state` of a question (SEP-1685). The instance that
 * asked is killed before the answer, so another instance continues the call from the `state`.
 */
export function resolveAsOlderClient({ title, workItemId, question, say }: OlderPlan): Step {
  return {
    title,
    ask: `initialize, then tools/call update_work_item { "workItemId": ${workItemId}, "fields": { "System.State": "Resolved" } }`,
    run: async (scope) => {
      const messages: WireMessage[] = []
      const fetch = createRecordingFetch((message) => messages.push(message))
      await using connection = connectAny(scope.url, { revision: 'older', http: { auth: scope.auth, fetch } })
      const lines: Line[] = []
      const elicit = async ({ message }: { readonly message: string }): Promise<ElicitAnswer> => {
        expect(message === question.message, `it should ask "${question.message}", not "${message}"`)
        const asked = messages.findLast((one) => one.message['method'] === 'elicitation/create')
        lines.push({ mark: '←', text: `elicitation/create, ${describeSender(asked)}: ${message}` })
        lines.push(await killInstanceThatAsked(scope, asked?.instance?.id))
        const answer = Object.values(question.answer.content ?? {}).join(', ')
        lines.push({ mark: '→', text: `the answer with the same state: ${answer}` })
        return question.answer
      }
      const client = createClient(connection, { name: 'older-client', version: '0.1.0', cache: false, elicit })
      const args = { workItemId, fields: { 'System.State': 'Resolved' } }
      const result = await client.callTool('update_work_item', args, { signal: scope.signal })
      expect(lines.length > 0, `it should ask "${question.message}"`)
      expect(result.isError !== true && textOf(result).join(' ').includes(say), `it should say "${say}"`)
      const { peer } = connection
      expect(peer !== undefined && peer.revision !== '2026-07-28', 'it should speak an older revision')
      const continued = checkMessages(messages, scope)
      return [
        `revision ${peer.revision}. The client declares experimental.requestState.`,
        ...lines,
        { mark: '←', text: `the result, from instance ${continued}:` },
        ...textOf(result),
      ]
    },
  }
}

function describeSender(question: WireMessage | undefined): string {
  return `instance ${question?.instance?.id ?? '?'}, with ${question?.state?.length ?? 0} bytes of state`
}

/**
 * Checks that the answer returned the state of the question, and that another instance sent the result. Returns the
 * number of that instance.
 */
function checkMessages(messages: readonly WireMessage[], { onInstance }: StepScope): number {
  const [question, answer] = messages.filter(({ state }) => state !== undefined)
  const last = messages.findLast(({ message }) => 'result' in message)?.instance
  expect(question !== undefined, 'the question should have a state')
  expect(answer !== undefined && answer.state === question.state, 'the answer should return the state')
  expect(answer.message['id'] === question.message['id'], 'the answer should have the id of the question')
  expect(last !== undefined && last.id !== question.instance?.id, 'another instance should send the result')
  for (const instance of [question.instance, last]) if (instance !== undefined) onInstance(instance.id)
  return last.id
}
