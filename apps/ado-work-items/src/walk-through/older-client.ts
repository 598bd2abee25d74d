import { createClient, type ElicitAnswer } from '@x/client'
import { connectAny } from '@x/legacy/client'
import type { connectHttp } from '@x/transport-http/client'
import { type Instance, readInstanceHeader } from '../fleet/instance-meta.ts'
import { textOf } from './connect.ts'
import { type Expected, killInstanceThatAsked } from './resolve-in-rounds.ts'
import { expect, type Line, type Step } from './step.ts'

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
      const seen: { asking?: Instance; answering?: Instance } = {}
      const fetch = watchingFetch((instance) => (seen.answering = instance))
      await using connection = connectAny(scope.url, { revision: 'older', http: { auth: scope.auth, fetch } })
      const lines: Line[] = []
      const elicit = async ({ message }: { readonly message: string }): Promise<ElicitAnswer> => {
        expect(message === question.message, `it should ask "${question.message}", not "${message}"`)
        const asking = seen.answering
        expect(asking !== undefined, 'the instance that asks should say who it is')
        seen.asking = asking
        lines.push({ mark: '←', text: `elicitation/create, instance ${asking.id}: ${message}` })
        lines.push(await killInstanceThatAsked(scope, asking.id))
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
      const { asking, answering } = seen
      expect(asking !== undefined && answering !== undefined, 'every instance should say who it is')
      expect(answering.pid !== asking.pid, 'another instance should send the result')
      for (const instance of [asking, answering]) scope.onInstance(instance)
      return [
        `revision ${peer.revision}. The client declares experimental.requestState.`,
        ...lines,
        { mark: '←', text: `the result, from instance ${answering.id}:` },
        ...textOf(result),
      ]
    },
  }
}

type Fetch = NonNullable<NonNullable<Parameters<typeof connectHttp>[1]>['fetch']>

/** Creates a `fetch` that passes the instance of each response on. A question of an older revision has no `_meta`. */
function watchingFetch(onInstance: (instance: Instance) => void): Fetch {
  return async (url, options) => {
    const response = await fetch(url, options)
    const instance = readInstanceHeader(response.headers)
    if (instance !== undefined) onInstance(instance)
    return response
  }
}
