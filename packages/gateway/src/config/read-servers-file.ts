import { dirname, resolve } from 'node:path'
import { checkArgument, objectWith, type OptionTable, optionTypes, resolveOptions } from '@x/core'
import type { HttpAuthorizer } from '@x/exchange'
import { type CommandEntry, connectAny } from '@x/legacy/client'
import { findAddressProblem } from '../hop/address.ts'
import { createPersonLogin } from '../hop/person-login.ts'
import type { GatewayUpstreamOptions } from '../upstream/upstream-options.ts'
import type { PinFile } from './file-pins.ts'
import { expandPlaceholders, type Placeholders, readEnvFile, type ServersFileInput } from './placeholders.ts'
import { GatewayFileError, parseFile, readText } from './read-gateway-file.ts'
import { type CommandServer, parseServers, type UrlServer, withoutComments } from './servers-schema.ts'

/** A server at a URL of a file, for which a host chooses the login. */
export interface ServersFileLogin {
  /** The server's name in the file. */
  readonly name: string
  readonly url: URL
  /** The host's account at the authorization server, if the file names one: `oauth.clientId` or `auth.CLIENT_ID`. */
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
}

export interface ServersFileOptions {
  /** Your host's name. Authorization servers show it, and it names the user's folder with the tokens. */
  readonly name: string
  /** Gives the value of a placeholder such as `${input:token}`, for which VS Code asks the user. */
  readonly input?: ((input: ServersFileInput) => string | Promise<string>) | undefined
  /** Stands for `${workspaceFolder}`; folders of commands are relative to it. Default: the file's folder. */
  readonly workspaceFolder?: string | undefined
  /**
   * Authorizes a server at a URL without the header `Authorization`. Default: the user logs in with a browser when a
   * server requires it, and the tokens are stored in a folder of the user.
   */
  readonly authorize?: ((server: ServersFileLogin) => HttpAuthorizer | undefined) | undefined
  /** Accepted definitions of tools, from `openPinFile`. Default: definitions may change. */
  readonly pins?: PinFile | undefined
  /** Receives the lines that the commands write to stderr. Default: only their last lines are shown, in errors. */
  readonly stderr?: ((server: string, line: string) => void) | undefined
  /** Variables for placeholders. Default: those of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
}

const serversFileOptions = {
  name: { type: optionTypes.string },
  input: { type: optionTypes.function },
  workspaceFolder: { type: optionTypes.string },
  authorize: { type: optionTypes.function },
  pins: { type: objectWith(['storeOf'], 'a file of pins, such as openPinFile(path)') },
  stderr: { type: optionTypes.function },
  environment: { type: optionTypes.object },
} satisfies OptionTable<ServersFileOptions>

/**
 * Reads a user's servers, as Claude Desktop, Claude Code and Cursor (`mcpServers`) and VS Code (`servers`) store them,
 * as the `upstreams` of a gateway. Nothing is started or sent. Servers that the file disables are left out. An upstream
 * is named like its server, in lower case and with hyphens: `My Notes` becomes `my-notes`.
 *
 * The file names programs of this machine, so never read one that another user can write.
 *
 * @example
 * const upstreams = await readServersFile('.mcp.json', { name: 'my-host' })
 * const client = createClient(gateway({ name: 'my-host', version: '1.0.0', upstreams }), { name: 'my-host', version: '1.0.0' })
 *
 * @throws GatewayFileError with all problems of the file. Its cause is the error of Node if the file cannot be read.
 * TypeError for an option that does not exist, or has another type.
 */
export async function readServersFile(
  path: string,
  options: ServersFileOptions,
): Promise<Readonly<Record<string, GatewayUpstreamOptions>>> {
  checkArgument(options, { where: 'readServersFile', takes: 'a path and an object with name', needs: ['name'] })
  resolveOptions(options, serversFileOptions, 'readServersFile')
  const text = await readText(path, 'a JSON file with "mcpServers", or with "servers" as VS Code has it')
  const file = parseFile(path, withoutComments(text))
  const { servers, inputs, problems } = parseServers(file)
  const workspaceFolder = resolve(options.workspaceFolder ?? dirname(path))
  const { environment = process.env, input } = options
  // Bounded by the inputs of the file.
  const placeholders: Placeholders = { environment, workspaceFolder, input, inputs, problems, answers: new Map() }
  let login: HttpAuthorizer | undefined
  const { authorize = () => (login ??= createPersonLogin(options.name)), stderr } = options
  const upstreams: Record<string, GatewayUpstreamOptions> = {}
  for (const { name, upstream, server } of servers) {
    const connect =
      'url' in server
        ? await createUrlConnect(server, name, placeholders, authorize)
        : await createCommandConnect(server, name, placeholders, stderr)
    upstreams[upstream] = { connect, tools: options.pins && { pins: options.pins.storeOf(upstream) } }
  }
  if (problems.length > 0) throw new GatewayFileError(path, problems)
  return upstreams
}

async function createUrlConnect(
  { url: text, headers: given, clientId, clientSecret }: UrlServer,
  name: string,
  placeholders: Placeholders,
  authorize: NonNullable<ServersFileOptions['authorize']>,
): Promise<GatewayUpstreamOptions['connect']> {
  const address = await expandPlaceholders(text, `${name}.url`, placeholders)
  const headers = await expandAll(given, `${name}.headers`, placeholders)
  const url = URL.canParse(address) ? new URL(address) : undefined
  const problem = url === undefined ? 'must be a URL' : findAddressProblem(url)
  if (url === undefined || problem !== undefined) {
    placeholders.problems.push(`${name}.url: ${problem}`)
    return unreadable
  }
  const hasToken = Object.keys(headers).some((header) => header.toLowerCase() === 'authorization')
  const auth = hasToken ? undefined : authorize({ name, url, clientId, clientSecret })
  return () => connectAny(url, { http: { headers, auth } })
}

async function createCommandConnect(
  { command, args, env, envFile, cwd }: CommandServer,
  name: string,
  placeholders: Placeholders,
  stderr: ServersFileOptions['stderr'],
): Promise<GatewayUpstreamOptions['connect']> {
  const expand = (text: string, member: string): Promise<string> =>
    expandPlaceholders(text, `${name}.${member}`, placeholders)
  const fromFile = envFile === undefined ? {} : await readEnvFile(await expand(envFile, 'envFile'), name, placeholders)
  const expandedArgs: string[] = []
  for (const argument of args) expandedArgs.push(await expand(argument, 'args'))
  const entry: CommandEntry = {
    command: await expand(command, 'command'),
    args: expandedArgs,
    env: { ...fromFile, ...(await expandAll(env, `${name}.env`, placeholders)) },
    ...(cwd !== undefined && { cwd: resolve(placeholders.workspaceFolder, await expand(cwd, 'cwd')) }),
  }
  return () => connectAny(entry, stderr === undefined ? {} : { stdio: { stderr: (line) => stderr(name, line) } })
}

async function expandAll(
  texts: Readonly<Record<string, string>>,
  place: string,
  placeholders: Placeholders,
): Promise<Record<string, string>> {
  const entries: [string, string][] = []
  for (const [key, text] of Object.entries(texts))
    entries.push([key, await expandPlaceholders(text, `${place}.${key}`, placeholders)])
  return Object.fromEntries(entries)
}

/** Never called: the reader throws before a gateway can. */
const unreadable: GatewayUpstreamOptions['connect'] = () => {
  throw new TypeError('The file has problems')
}
