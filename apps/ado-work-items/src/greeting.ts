import pc from 'picocolors'
import { findPage } from './fleet/find-page.ts'
import type { Fleet } from './fleet/start-fleet.ts'
import type { Options } from './options.ts'
import type { Service } from './service.ts'
import type { TasksDatabase } from './tasks/open-database.ts'
import { databaseVariable } from './tasks/task-settings.ts'
import { curlCommand, exampleRequest } from './walk-through/curl-example.ts'

/** The external services of the instances. */
interface Outside {
  readonly service: Service
  readonly database: TasksDatabase
}

/** The first that is said: what serves, and over what. */
export function formatGreeting({ instances }: Options, fleet: Fleet, { service, database }: Outside): string {
  const { emulated, connection } = service
  const where = `${connection.organization}/${connection.project}`
  const processes = instances === 1 ? '1 instance serves' : `${instances} instances share`
  return [
    '',
    pc.bold('Azure DevOps work items over MCP'),
    `${processes} ${fleet.url} and keep nothing between two requests.`,
    `Tasks are kept in ${database.temporary ? 'a PostgreSQL of this run (PGlite)' : databaseVariable}.`,
    emulated
      ? `Azure DevOps is an emulator of ${where}; --help says how to use a real one.`
      : `Azure DevOps is ${connection.baseUrl}/${where}; this walk-through only reads.`,
    '',
  ].join('\n')
}

/** The text after the walk-through, when the server continues. */
export function formatServing({ url }: Fleet): string {
  const page = findPage() === undefined ? [] : [`There is a page for it at ${pc.bold(new URL('/', url).href)}`]
  const serving = [`\nServing on ${pc.bold(url)} until Ctrl-C.`, ...page]
  return `${serving.join('\n')}\n\nTry it from another terminal:\n\n${curlCommand(exampleRequest(url))}\n`
}
