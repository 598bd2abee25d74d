import { expect } from 'vitest'
import { type Check, checks, type Host, nameAt, textOf } from './checks.ts'
import { pageHtml, skillText } from './extensions.ts'

/** Returns a URI as a host of the upstream sees it. Those of pages and skills keep their scheme. */
const uriAt = (upstream: string, scheme: string, path: string): string =>
  `${scheme}://${upstream === '' ? '' : `${upstream}/`}${path}`

const paint = ({ client, upstream }: Host): ReturnType<Host['client']['tasks']['start']> =>
  client.tasks.start(nameAt(upstream, 'paint'))

const painted = 'painted in host to Which color?'

/** The extensions that a hop passes, each with its check. */
export const extensionChecks: Readonly<Record<string, Check>> = {
  Skills: async ({ client, upstream }) => {
    const uri = uriAt(upstream, 'skill', 'charts/SKILL.md')
    expect((await client.skills.list()).map((skill) => skill.uri)).toEqual([uri])
    expect(await client.skills.read(await client.skills.get(uri))).toMatchObject({ text: skillText })
  },
  Apps: async ({ client, upstream }) => {
    const uri = uriAt(upstream, 'ui', 'chart/page.html')
    const name = nameAt(upstream, 'chart')
    expect((await client.listTools()).find((tool) => tool.name === name)).toMatchObject({
      _meta: { ui: { resourceUri: uri } },
    })
    expect((await client.readResource(uri)).contents).toMatchObject([{ uri, text: pageHtml }])
    expect(textOf(await client.callTool(name))).toBe('as a page')
  },
  Tasks: async (host) => {
    const started = await paint(host)
    if (started.status !== 'task') throw new Error('The call did not become a task')
    expect(textOf(await started.task.result())).toBe(painted)
    const cancelled = await paint(host)
    if (cancelled.status === 'task') await cancelled.task.cancel()
    expect(cancelled.status === 'task' && (await cancelled.task.status()).status).toBe('cancelled')
  },
  'sessions of the data layer': checkOf('sessions of the data layer'),
  'methods and notifications of extensions': checkOf('methods and notifications of extensions'),
}

/** Where an end is older, a call that could become a task is an ordinary call. */
export const checkOrdinaryCall: Check = async (host) => {
  const started = await paint(host)
  expect(started.status === 'complete' && textOf(started.result)).toBe(painted)
}

/** A gateway refuses the methods of other extensions. */
export const checkRefusedMethod: Check = async ({ client }) => {
  await expect(client.request('com.example/count')).rejects.toThrow('is not served')
}

function checkOf(name: string): Check {
  const check = checks[name]
  if (check === undefined) throw new Error(`There is no check "${name}"`)
  return check
}
