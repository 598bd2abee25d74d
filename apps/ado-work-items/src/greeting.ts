import pc from 'picocolors'
import type { LoginService } from './authorization/open-login.ts'
import type { Fleet } from './fleet/start-fleet.ts'
import type { Options } from './options.ts'
import type { Service } from './service.ts'
import type { TasksDatabase } from './tasks/open-services.ts'

/** The instances, and the services that they use. */
interface Serving {
  readonly fleet: Pick<Fleet, 'url'>
  readonly service: Pick<Service, 'emulated' | 'connection'>
  readonly database: Pick<TasksDatabase, 'temporary'>
  readonly login: Pick<LoginService, 'accounts' | 'issuer'> | undefined
}

/** Formats the text at the start: the instances and the services that they use. */
export function formatGreeting({ instances, dpop }: Options, { fleet, service, database, login }: Serving): string {
  const { emulated, connection } = service
  const where = `${connection.organization}/${connection.project}`
  const processes = instances === 1 ? '1 instance serves' : `${instances} instances share`
  return [
    '',
    pc.bold('Azure DevOps work items over MCP'),
    `${processes} ${fleet.url} and keep nothing between two requests.`,
    `Tasks are kept in ${database.temporary ? 'a PostgreSQL of this run' : 'TASKS_DATABASE'}.`,
    emulated
      ? `Azure DevOps is an emulator of ${where}; --help says how to use a real one.`
      : `Azure DevOps is ${connection.baseUrl}/${where}; this walk-through only reads.`,
    ...(login === undefined ? [] : [describeLogin(login, dpop)]),
    '',
  ].join('\n')
}

/** Formats the text after the walk-through, if the server continues to run. */
export function formatServing(url: string, pageUrl: string): string {
  return `\nServing on ${pc.bold(url)} until Ctrl-C.\nCall it, and kill its instances, at ${pc.bold(pageUrl)}\n`
}

function describeLogin({ accounts, issuer }: Pick<LoginService, 'accounts' | 'issuer'>, dpop: boolean): string {
  const bound = dpop ? ', bound to the keys of their clients' : ''
  return `Tokens come from ${issuer}${bound}. ${accounts.join(' and ')} can log in there.`
}
