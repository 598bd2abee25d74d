import * as z from 'zod'
import { textOf } from './connect.ts'
import { expect, killOnPurpose, type Step, type StepScope } from './step.ts'

const listed = z.object({ workItems: z.array(z.object({ id: z.number() })) })

/** Reads the description of the server. */
export const discover: Step = {
  title: 'Discover the server.',
  ask: 'server/discover',
  run: async ({ client, signal }) => {
    const { supportedVersions, capabilities } = await client.discover({ signal })
    expect(capabilities.tools !== undefined, 'the server should offer tools')
    const { name = '?', version = '?' } = client.serverInfo ?? {}
    return [`${name} ${version} speaks ${supportedVersions.join(', ')}: ${Object.keys(capabilities).join(', ')}`]
  },
}

/** Lists the tools, one line each. */
export const listTools: Step = {
  title: 'List the tools.',
  ask: 'tools/list',
  run: async ({ client, signal }) => {
    const tools = await client.listTools({ signal })
    expect(tools.length === 4, `there should be 4 tools, not ${tools.length}`)
    return tools.map(({ name, title, annotations }) => {
      return `${name.padEnd(17)} ${title}${annotations?.readOnlyHint === true ? ' (only reads)' : ''}`
    })
  },
}

/** Calls `list_work_items` and expects the given ids. Without ids, it expects any result. */
export function search(title: string, args: Readonly<Record<string, string | number>>, ids?: readonly number[]): Step {
  return {
    title,
    ask: `tools/call list_work_items ${json(args)}`,
    run: async ({ client, signal }) => {
      const result = await client.callTool('list_work_items', args, { signal })
      expect(result.isError !== true, textOf(result).join(' '))
      const found = listed.parse(result.structuredContent).workItems.map((item) => item.id)
      expect(
        ids === undefined || found.join() === ids.join(),
        `it should find ${ids?.join(', ')}, not ${found.join(', ')}`,
      )
      return textOf(result)
    },
  }
}

/**
 * Calls `update_work_item`. The result must contain every text of `say`, and must be an error exactly if `rejected` is
 * `true`.
 */
export function update(
  title: string,
  args: { workItemId: number; fields: Readonly<Record<string, string | number>>; rev?: number },
  should: { rejected: boolean; say: readonly string[] },
): Step {
  return {
    title,
    ask: `tools/call update_work_item ${json(args)}`,
    run: async ({ client, signal }) => {
      const result = await client.callTool('update_work_item', { ...args }, { signal })
      const lines = textOf(result)
      expect(
        (result.isError ?? false) === should.rejected,
        `it should ${should.rejected ? '' : 'not '}be rejected: ${lines.join(' ')}`,
      )
      for (const words of should.say)
        expect(lines.join(' ').includes(words), `it should say "${words}": ${lines.join(' ')}`)
      return lines
    },
  }
}

/** Reads a work item as a resource. */
export function readResource(title: string, id: number): Step {
  return {
    title,
    ask: `resources/read ado://…/workitems/${id}`,
    run: async ({ client, signal, uriBase }) => {
      const { contents } = await client.readResource(`${uriBase}/workitems/${id}`, { signal })
      const [first] = contents
      expect(first !== undefined && 'text' in first, 'it should come as text')
      expect(first.text.includes(`"id": ${id}`), `it should be work item ${id}`)
      return [`${first.mimeType}, ${first.text.length} characters`, ...first.text.split('\n').slice(1, 7)]
    },
  }
}

/** Requests completions for the first digits of an id, as an editor does. */
export function complete(title: string, typed: string): Step {
  return {
    title,
    ask: `completion/complete id: "${typed}"`,
    run: async ({ client, signal }) => {
      const ref = { type: 'ref/resource' as const, uri: 'ado://{organization}/{project}/workitems/{id}' }
      const { completion } = await client.complete(ref, { name: 'id', value: typed }, { signal })
      const fits = completion.values.length > 0 && completion.values.every((value) => value.startsWith(typed))
      expect(fits, `ids should begin with ${typed}: ${completion.values.join(', ')}`)
      return [completion.values.slice(0, 12).join(', ')]
    },
  }
}

/** Gets the prompt for a work item. */
export function getPrompt(title: string, id: number): Step {
  return {
    title,
    ask: `prompts/get triage_work_item ${json({ workItemId: String(id) })}`,
    run: async ({ client, signal }) => {
      const { messages } = await client.getPrompt('triage_work_item', { workItemId: String(id) }, { signal })
      const last = messages.at(-1)?.content
      expect(last?.type === 'text' && last.text.includes(`#${id}`), `the prompt should name #${id}`)
      return [`${messages.length} messages: the work item, then:`, ...last.text.split('\n').slice(0, 1), '…']
    },
  }
}

/** Kills an instance and calls the server again at once. The other instances answer, and a new one starts. */
export function surviveKill(title: string, workItemId: number): Step {
  return {
    title,
    ask: `tools/call get_work_item ${json({ workItemId })}, six times`,
    run: async (scope: StepScope) => {
      const [victim] = scope.instances()
      expect(victim !== undefined, 'an instance should listen')
      await killOnPurpose(victim, scope, '')
      for (let asked = 0; asked < 6; asked++) {
        const result = await scope.client.callTool('get_work_item', { workItemId }, { signal: scope.signal })
        expect(result.isError !== true, `it should be answered: ${textOf(result).join(' ')}`)
      }
      await scope.untilComplete()
      return [`instance ${victim} was killed; every call was answered; now serving: ${scope.instances().join(', ')}`]
    },
  }
}

/** Formats JSON with spaces, so that it can be wrapped. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')
}
