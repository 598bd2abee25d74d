import { isJsonObject, type JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import hosts from '../../../docs/hosts.json' with { type: 'json' }
import { serve, serveBehindProxy, uiExtension } from './capability-server.ts'
import { type HostProfile, type PlayedHost, playOverHttp, playOverStreams } from './profile-host.ts'

const tasksExtension = 'io.modelcontextprotocol/tasks'

/** What `pnpm hosts` recorded, and a client that declares more than any of these hosts. */
const profiles: readonly HostProfile[] = [
  {
    host: 'the official v2 client with tasks',
    version: '2.4.0',
    revision: '2025-11-25',
    capabilities: {
      elicitation: { form: {} },
      extensions: { [tasksExtension]: {}, [uiExtension]: { mimeTypes: ['text/html;profile=mcp-app'] } },
    },
  },
  ...hosts.map(({ host, version, revision, capabilities, clientInfo }) => {
    const title = Object.entries(clientInfo).find(([name]) => name === 'title')?.[1]
    const profile = { host, version, revision, capabilities: capabilities as JsonObject }
    return typeof title === 'string' ? { ...profile, title } : profile
  }),
]

/** What a host sees of a call: the text of its result, or the capability that the host lacks. */
function outcomeOf({ result, error }: JsonObject): string {
  if (isJsonObject(error)) {
    const required = isJsonObject(error['data']) ? error['data']['requiredCapabilities'] : undefined
    return isJsonObject(required) ? `lacks ${pathsOf(required)}` : String(error['message'])
  }
  if (isJsonObject(result) && result['resultType'] === 'task') return 'a task'
  const content = isJsonObject(result) ? result['content'] : undefined
  const [block] = Array.isArray(content) ? content : []
  const text = isJsonObject(block) ? String(block['text']) : JSON.stringify(result)
  return text.replace('This needs the client capability ', 'lacks ')
}

function pathsOf(capabilities: JsonObject): string {
  const paths = Object.entries(capabilities).flatMap(([parent, value]) => {
    const children = Object.keys(isJsonObject(value) ? value : {})
    return children.length === 0 ? [parent] : children.map((child) => `${parent}.${child}`)
  })
  return paths.join()
}

/** Returns true if a host declares a capability in its own words. `elicitation: {}` means the form mode. */
function declares({ capabilities }: HostProfile, parent: string, child?: string): boolean {
  const value = capabilities[parent]
  if (!isJsonObject(value)) return false
  return child === undefined || Object.hasOwn(value, child) || (child === 'form' && Object.keys(value).length === 0)
}

type Row = readonly [tool: string, outcome: string, asked: readonly string[]]

/** The calls whose outcome depends on a capability of the host, as the profile of the host predicts them. */
function predict(profile: HostProfile, isProxied: boolean): readonly Row[] {
  const { revision, host } = profile
  const isOlder = revision !== '2026-07-28'
  const form = 'elicitation/create form'
  const hasForms = declares(profile, 'elicitation', 'form')
  const whenForms = (toolName: string, outcome: string, count = 1): Row =>
    hasForms ? [toolName, outcome, Array(count).fill(form)] : [toolName, 'lacks elicitation.form', []]
  const when = (isDeclared: boolean, row: Row, lacking: string): Row =>
    isDeclared ? row : [row[0], `lacks ${lacking}`, []]
  const many = `This needs a form whose field "names" takes several values, which revision ${revision} does not have`
  const tasksMissing = `lacks extensions.${tasksExtension}`
  const isOffered = !isOlder && !isProxied
  const takesTasks = isOffered && declares(profile, 'extensions', tasksExtension)
  return [
    whenForms('form', 'Ada'),
    whenForms('two_forms', 'Ada 3 Ada', 2),
    hasForms && revision < '2025-11-25' ? ['many', many, []] : whenForms('many', 'a'),
    when(declares(profile, 'elicitation', 'url'), ['page', 'seen', ['elicitation/create url']], 'elicitation.url'),
    when(declares(profile, 'sampling'), ['model', 'hello', ['sampling/createMessage']], 'sampling'),
    when(declares(profile, 'roots'), ['folders', 'file:///work', ['roots/list']], 'roots'),
    ['pages', String(declares(profile, 'extensions', uiExtension)), []],
    ['who', `${isProxied ? '2025-11-25' : revision} ${host} ${profile.title}`, []],
    ...(['never', 'allowed', 'required'] as const).flatMap((choice): Row[] => {
      const isRequired = choice === 'required' && isOffered
      const later = whenForms(`later_task_${choice}`, 'Ada false')
      if (takesTasks && choice !== 'never') {
        const [toolName, , asked] = later
        return [
          [`task_${choice}`, 'a task', []],
          [`asking_task_${choice}`, 'a task', []],
          [toolName, 'a task', asked],
        ]
      }
      return [
        [`task_${choice}`, isRequired ? tasksMissing : 'done', []],
        isRequired ? [`asking_task_${choice}`, tasksMissing, []] : whenForms(`asking_task_${choice}`, 'Ada'),
        isRequired && hasForms ? [later[0], tasksMissing, later[2]] : later,
      ]
    }),
  ]
}

async function observe(host: PlayedHost, toolName: string): Promise<Row> {
  const before = host.asked.length
  const outcome = outcomeOf(await host.request('tools/call', { name: toolName, arguments: {} }))
  return [toolName, outcome, host.asked.slice(before)]
}

const links = [
  ['over HTTP', false, playOverHttp, serve],
  ['over streams to a proxy of an older server', true, playOverStreams, serveBehindProxy],
] as const

describe.each(links)('%s', (_, isProxied, play, createServed) => {
  const served = createServed()

  test.each(profiles)(
    '$host is served as it declares itself at $revision [ROB-006 ROB-007 ROB-008 TSK-059]',
    async (profile) => {
      const host = await play(profile, served)
      const expected = predict(profile, isProxied)
      const observed: Row[] = []
      for (const [toolName] of expected) observed.push(await observe(host, toolName))
      expect(observed).toEqual(expected)
      expect(await host.request('com.example/count')).toMatchObject({ result: { count: 3 } })
      // Only a host of 2026-07-28 that reaches the server itself may learn of its tasks.
      const isOffered = profile.revision === '2026-07-28' && !isProxied
      expect(JSON.stringify(host.greeting).includes(tasksExtension)).toBe(isOffered)
      const unknown = declares(profile, 'extensions', tasksExtension) ? -32602 : -32021
      expect(await host.request('tasks/get', { taskId: 'x' })).toMatchObject({
        error: { code: isOffered ? unknown : -32601 },
      })
    },
  )
})
