import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@x/schema'
import { type Feature, features, NotSeen, situations, waitForTools } from './features.ts'
import { type Installed, install } from './install.ts'
import { startModel } from './model/server.ts'
import { type Declaration, declarationIn } from './declaration.ts'
import { type Served, serve } from './serve.ts'
import type { Host, Session } from './session.ts'
import { TimedOut } from './terminal.ts'

/** What became of one feature at one place. */
export interface Cell {
  readonly outcome: 'works' | 'fails' | 'host cannot' | 'not run'
  /** What the user or the model saw. */
  readonly seen: string
}

/** What a run found out about a host. */
export interface HostResult extends Declaration {
  readonly host: string
  readonly kind: Host['kind']
  readonly package: string
  readonly version: string
  /** The day of the run. */
  readonly date: string
  readonly cells: Readonly<Record<string, Readonly<Record<string, Cell>>>>
}

/** What the hosts of one run share. */
export interface Surroundings {
  /** A database for servers with several instances. */
  readonly database: string
}

/** A place: how the server is served while some features are tried. */
interface Place {
  readonly name: string
  readonly over: 'stdio' | 'http'
  readonly instances: number
  readonly env: Readonly<Record<string, string>>
  readonly needsLogin?: boolean
  readonly features: readonly Feature[]
}

/** Tries everything in one host. */
export async function runHost(host: Host, { database }: Surroundings): Promise<HostResult> {
  const installed = await install(host.packages)
  const messages: JsonObject[] = []
  const attempt = (place: Place, program: 'demo' | 'twin', only: readonly Feature[]) =>
    tryFeatures({ host, installed, place, program, messages }, only)
  const tryPlace = async (place: Place): Promise<Record<string, Cell>> => {
    const cells = await attempt(place, 'demo', place.features)
    const failing = (): readonly Feature[] => place.features.filter(({ name }) => cells[name]?.outcome !== 'works')
    // On a busy machine a host may be late once.
    Object.assign(cells, await attempt(place, 'demo', failing()))
    const failed = failing()
    const compared = failed.length > 0 ? await attempt(place, 'twin', failed.map(atItsBest)) : {}
    for (const [name, { outcome }] of Object.entries(compared)) {
      const cell = cells[name]
      if (cell?.outcome === 'fails' && outcome === 'fails') cells[name] = { ...cell, outcome: 'host cannot' }
    }
    return cells
  }
  const places = placesOf(database)
  const found = new Map<string, Record<string, Cell>>()
  const queue = places.values()
  const work = async (): Promise<void> => {
    for (const place of queue) found.set(place.name, await tryPlace(place))
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
  return {
    host: host.name,
    kind: host.kind,
    package: host.packages[0],
    version: installed.version,
    date: new Date().toISOString().slice(0, 10),
    ...declarationIn(messages),
    cells: Object.fromEntries(places.map(({ name }) => [name, found.get(name) ?? {}])),
  }
}

/** Hosts that run at once. */
const maxAtOnce = 3

/**
 * Returns what the twin is compared with. Its instances know nothing of one another and lose everything at a restart,
 * so it runs as one process that stays: a host that cannot do it there cannot do it at all.
 */
function atItsBest(feature: Feature): Feature {
  return { ...feature, run: (session, served) => feature.run(session, { ...served, restart: async () => {} }) }
}

function placesOf(database: string): readonly Place[] {
  const linked = { DATABASE: database }
  const situation = (name: keyof typeof situations, env: Readonly<Record<string, string>>): Place => {
    const feature = { name, run: situations[name] }
    return { name, over: 'http', instances: 1, env, features: [feature] }
  }
  return [
    { name: 'stdio', over: 'stdio', instances: 1, env: {}, features },
    { name: 'HTTP', over: 'http', instances: 1, env: {}, features },
    { name: 'HTTP, two instances', over: 'http', instances: 2, env: linked, features },
    situation('restart between two calls', {}),
    situation('restart while a form is open', linked),
    situation('200 tools', { MANY: '200' }),
    { ...situation('OAuth', {}), needsLogin: true },
  ]
}

interface Attempt {
  readonly host: Host
  readonly installed: Installed
  readonly place: Place
  readonly program: 'demo' | 'twin'
  /** Collects what the host sends. */
  readonly messages: JsonObject[]
}

async function tryFeatures(attempt: Attempt, only: readonly Feature[]): Promise<Record<string, Cell>> {
  const cells: Record<string, Cell> = {}
  let rest = only
  // A feature that got no answer leaves a session behind in which others cannot be tried.
  while (rest.length > 0) rest = await tryInOneSession(attempt, rest, cells)
  return cells
}

/** Tries features until one leaves the session unusable. Returns those that were not tried. */
async function tryInOneSession(
  { host, installed, place, program, messages }: Attempt,
  only: readonly Feature[],
  cells: Record<string, Cell>,
): Promise<readonly Feature[]> {
  const home = await makeHome()
  const { over, needsLogin = false } = place
  const instances = program === 'twin' ? 1 : place.instances
  const env = { ...place.env, KEY: randomBytes(32).toString('base64url') }
  const served = await serve({ program, over, instances, needsLogin, folder: home, env })
  const model = await startModel()
  let session: Session | undefined
  try {
    const path = `${join(home, 'bin')}:${installed.path}`
    session = await host.start({ path, folder: installed.folder, home, server: served.entry, model })
    await waitForTools(session)
    for (const [index, feature] of only.entries()) {
      const { cell, isStuck } = await tryFeature(feature, session, served)
      cells[feature.name] = { ...cell, seen: shorten(cell.seen.replaceAll(home, '~')) }
      if (isStuck) return only.slice(index + 1)
    }
  } catch (error) {
    for (const { name } of only) cells[name] ??= { outcome: 'not run', seen: `did not start: ${String(error)}` }
  } finally {
    await session?.close()
    await model.close()
    await served.close()
    if (program === 'demo') messages.push(...served.messages)
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
  return []
}

/** Makes the home of a user, whose browser follows every redirect and agrees to everything. */
async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'hosts-'))
  await mkdir(join(home, 'bin'))
  const browser = '#!/bin/sh\nfor url; do :; done\nexec curl --silent --location --cookie "" "$url"\n'
  await writeFile(join(home, 'bin/xdg-open'), browser, { mode: 0o755 })
  return home
}

async function tryFeature(
  feature: Feature,
  session: Session,
  served: Served,
): Promise<{ readonly cell: Cell; readonly isStuck: boolean }> {
  try {
    return { cell: { outcome: 'works', seen: await feature.run(session, served) }, isStuck: false }
  } catch (error) {
    if (!(error instanceof NotSeen || error instanceof TimedOut)) throw error
    return { cell: { outcome: 'fails', seen: error.message }, isStuck: error instanceof TimedOut }
  }
}

const maxSeen = 600

/** Returns the end of what was seen, without the lines and gaps that a terminal draws. */
function shorten(text: string): string {
  const plain = text
    .replace(/[─│╭╮╰╯▔▁▀▄█ ]{3,}/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
  return plain.length <= maxSeen ? plain : `…${plain.slice(-maxSeen)}`
}
