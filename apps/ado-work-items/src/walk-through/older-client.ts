import { createClient, type ElicitAnswer } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { instanceIn } from '../fleet/instance-meta.ts'
import type { Expected } from './resolve-in-rounds.ts'
import { expect, type Line, type Step } from './step.ts'
import { textOf } from './text-of.ts'

/** A call of a client of an older revision, and what it is asked. */
export interface OlderPlan {
  readonly title: string
  readonly workItemId: number
  readonly question: Expected
  /** The text in the answer. */
  readonly say: string
}

/**
 * Resolves a work item as a client of 2025-11-25, which the server asks in the middle of its call, on the stream of
 * that call.
 */
export function resolveAsOlderClient({ title, workItemId, question, say }: OlderPlan): Step {
  return {
    title,
    ask: `initialize, then tools/call update_work_item { "workItemId": ${workItemId}, "fields": { "System.State": "Resolved" } }`,
    run: async ({ url, auth, signal, onInstance }) => {
      await using connection = connectAny(url, { era: 'legacy', http: { auth } })
      const lines: Line[] = []
      const elicit = ({ message }: { readonly message: string }): ElicitAnswer => {
        expect(message === question.message, `it should ask "${question.message}", not "${message}"`)
        lines.push({ mark: '←', text: `elicitation/create: ${message}` })
        lines.push({ mark: '→', text: `its answer: ${Object.values(question.answer.content ?? {}).join(', ')}` })
        return question.answer
      }
      const client = createClient(connection, { name: 'older-client', version: '0.1.0', cache: false, elicit })
      const args = { workItemId, fields: { 'System.State': 'Resolved' } }
      const result = await client.callTool('update_work_item', args, { signal })
      const instance = instanceIn(result._meta ?? {})
      if (instance !== undefined) onInstance(instance.id)
      const { peer } = connection
      expect(peer?.era === 'legacy', 'it should speak an older revision')
      expect(lines.length > 0, `it should ask "${question.message}"`)
      expect(result.isError !== true && textOf(result).join(' ').includes(say), `it should say "${say}"`)
      return [`revision ${peer.revision}, a session that every instance can open`, ...lines, ...textOf(result)]
    },
  }
}
