import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@x/schema'
import { type Feature, waitForTools } from './features.ts'
import type { Installed } from './install.ts'
import { startModel } from './model/server.ts'
import { type Program, type Served, serve } from './serve.ts'
import { type Host, Lacking, NotDriven, NotSeen, type Session } from './session.ts'
import { TimedOut } from './terminal.ts'

/** What became of one feature at one place. */
export interface Cell {
  readonly outcome: 'works' | 'fails' | 'host cannot' | 'not run'
  /** What the user or the model saw. */
  readonly seen: string
}

/** A place: how a server is served while some features are tried. */
export interface Place {
  readonly name: string
  readonly program: Program
  readonly over: 'stdio' | 'http'
  readonly instances: number
  readonly env: Readonly<Record<string, string>>
  readonly needsLogin?: boolean
  /** The process of the server is replaced meanwhile. */
  readonly restarts?: boolean
}

/** A host at a place. */
export interface Attempt {
  readonly host: Host
  readonly installed: Installed
  readonly place: Place
  /** Collects what the host sends to our server. */
  readonly messages: JsonObject[]
}

/** Tries features of a server in a host. */
export async function tryFeatures(attempt: Attempt, only: readonly Feature[]): Promise<Readonly<Record<string, Cell>>> {
  const cells: Record<string, Cell> = {}
  let rest = only
  // A feature that got no answer leaves a session behind in which others cannot be tried.
  while (rest.length > 0) rest = await tryInOneSession(attempt, rest, cells)
  return cells
}

/** Tries features until one leaves the session unusable. Returns those that were not tried. */
async function tryInOneSession(
  { host, installed, place, messages }: Attempt,
  only: readonly Feature[],
  cells: Record<string, Cell>,
): Promise<readonly Feature[]> {
  const home = await makeHome()
  const { over, program, instances, needsLogin = false } = place
  const env = { ...place.env, KEY: randomBytes(32).toString('base64url') }
  const served = await serve({ program, over, instances, needsLogin, folder: home, env })
  const model = await startModel()
  let session: Session | undefined
  const say = (seen: string): string => shorten(seen.replaceAll(home, '~').replaceAll(installed.folder, '~/.cache'))
  try {
    const path = `${join(home, 'bin')}:${installed.path}`
    session = await host.start({ path, folder: installed.folder, home, server: served.entry, model })
    if (host.kind === 'agent') await waitForTools(session)
    for (const [index, feature] of only.entries()) {
      const { cell, isStuck } = await tryFeature(feature, session, served)
      cells[feature.name] = { ...cell, seen: say(cell.seen) }
      if (isStuck) return only.slice(index + 1)
    }
  } catch (error) {
    for (const { name } of only) cells[name] ??= { outcome: 'not run', seen: say(`did not start: ${String(error)}`) }
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
  for (const name of ['xdg-open', 'x-www-browser']) await writeFile(join(home, 'bin', name), browser, { mode: 0o755 })
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
    return { cell: { outcome: outcomeOf(error), seen: error.message }, isStuck: error instanceof TimedOut }
  }
}

function outcomeOf(error: Error): Cell['outcome'] {
  if (error instanceof NotDriven) return 'not run'
  return error instanceof Lacking ? 'host cannot' : 'fails'
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
