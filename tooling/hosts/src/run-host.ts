import type { JsonObject } from '@x/schema'
import { type Declaration, declarationIn } from './declaration.ts'
import { type Feature, features, situations } from './features.ts'
import { install } from './install.ts'
import type { Host } from './session.ts'
import { type Cell, type Place, tryFeatures } from './try-features.ts'

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

/** Something to try at a place. */
interface Trial {
  readonly place: Place
  readonly feature: Feature
}

/** Tries everything in one host. */
export async function runHost(host: Host, { database }: Surroundings): Promise<HostResult> {
  const installed = await install(host.packages)
  const messages: JsonObject[] = []
  const attempt = async (trials: readonly Trial[]): Promise<ReadonlyMap<Trial, Cell>> => {
    const tried = new Map<Trial, Cell>()
    await eachAtOnce(groupByPlace(trials), async ([place, members]) => {
      const outcomes = await tryFeatures(
        { host, installed, place, messages },
        members.map(({ feature }) => feature),
      )
      for (const trial of members) tried.set(trial, outcomes[trial.feature.name] ?? notTried)
    })
    return tried
  }
  const trials = placesOf(database).flatMap(({ place, features }) => features.map((feature) => ({ place, feature })))
  const found = new Map(await attempt(trials.filter(({ place }) => reasonAgainst(host, place) === undefined)))
  const declaration = declarationIn(messages)
  const compared = await compare(unclear(found), declaration, attempt)
  // On a busy machine a host may be late once. It is asked again unless it failed everywhere, and in the twin too.
  const working = new Set([...found].flatMap(([{ feature }, { outcome }]) => (outcome === 'works' ? feature.name : [])))
  const again = [...compared].flatMap(([trial, { outcome }]) =>
    outcome === 'fails' && found.get(trial)?.outcome === 'fails' && !working.has(trial.feature.name) ? [] : [trial],
  )
  for (const [trial, tried] of await attempt(again)) found.set(trial, tried)
  for (const [trial, { outcome }] of compared) {
    const tried = found.get(trial)
    if (outcome === 'fails' && tried?.outcome === 'fails') found.set(trial, { ...tried, outcome: 'host cannot' })
  }
  return {
    host: host.name,
    kind: host.kind,
    package: host.packages[0],
    version: installed.version,
    date: new Date().toISOString().slice(0, 10),
    ...declaration,
    cells: cellsOf(host, trials, found),
  }
}

const notTried: Cell = { outcome: 'not run', seen: 'the session ended before' }

function unclear(found: ReadonlyMap<Trial, Cell>): readonly Trial[] {
  return [...found].filter(([, { outcome }]) => outcome === 'fails' || outcome === 'not run').map(([trial]) => trial)
}

type Attempt = (trials: readonly Trial[]) => Promise<ReadonlyMap<Trial, Cell>>

/**
 * Tries the same in the same host with the twin, a server on the official SDK. The twin of a host that speaks 2026-07-28
 * keeps nothing between requests and is restarted like ours. Any other loses its sessions at a restart, and its
 * instances know nothing of one another, so it runs as one process that stays: a host that cannot do it there cannot do
 * it at all.
 */
async function compare(
  trials: readonly Trial[],
  { revision }: Declaration,
  attempt: Attempt,
): Promise<ReadonlyMap<Trial, Cell>> {
  const twins = new Map<string, Trial>()
  const twinOf = ({ place, feature }: Trial): Trial => {
    const { over, needsLogin = false, env, restarts = false } = place
    const isStateless = restarts && revision === '2026-07-28'
    const program = isStateless ? 'stateless-twin' : 'twin'
    const { MANY, SEARCH } = env
    const name = [program, over, needsLogin && 'login', MANY, SEARCH].join(' ')
    const twinEnv = { ...(MANY && { MANY }), ...(SEARCH && { SEARCH }) }
    const twinPlace: Place = { name, program, over, needsLogin, instances: 1, env: twinEnv }
    const key = `${name} ${feature.name}`
    const known = twins.get(key) ?? { place: twinPlace, feature: isStateless ? feature : withoutRestart(feature) }
    twins.set(key, known)
    return known
  }
  const pairs = trials.map((trial) => [trial, twinOf(trial)] as const)
  const tried = await attempt([...twins.values()])
  return new Map(pairs.map(([trial, twin]) => [trial, tried.get(twin) ?? notTried]))
}

function withoutRestart(feature: Feature): Feature {
  return { ...feature, run: (session, served) => feature.run(session, { ...served, restart: async () => {} }) }
}

function reasonAgainst(host: Host, { over }: Place): string | undefined {
  return over === 'stdio' ? host.overHttpAlone : undefined
}

function cellsOf(host: Host, trials: readonly Trial[], found: ReadonlyMap<Trial, Cell>): HostResult['cells'] {
  const cells: Record<string, Record<string, Cell>> = {}
  for (const trial of trials) {
    const { outcome, seen } = found.get(trial) ?? notTried
    const reason = reasonAgainst(host, trial.place)
    const row = (cells[trial.place.name] ??= {})
    row[trial.feature.name] = reason === undefined ? { outcome, seen } : { outcome: 'host cannot', seen: reason }
  }
  return cells
}

function placesOf(database: string): readonly { readonly place: Place; readonly features: readonly Feature[] }[] {
  const linked = { DATABASE: database }
  const place = (name: string, more: Partial<Place>): Place => ({
    name,
    program: 'demo',
    over: 'http',
    instances: 1,
    env: {},
    ...more,
  })
  const situation = (name: keyof typeof situations, more: Partial<Place>) => ({
    place: place(name, more),
    features: [{ name, run: situations[name] }],
  })
  return [
    { place: place('stdio', { over: 'stdio' }), features },
    { place: place('HTTP', {}), features },
    { place: place('HTTP, two instances', { instances: 2, env: linked }), features },
    situation('restart between two calls', { restarts: true }),
    situation('restart while a form is open', { restarts: true, env: linked }),
    situation('200 tools', { env: { MANY: '200' } }),
    situation('600 tools with search', { env: { MANY: '600', SEARCH: 'true' } }),
    situation('OAuth', { needsLogin: true }),
  ]
}

function groupByPlace(trials: readonly Trial[]): ReadonlyMap<Place, readonly Trial[]> {
  const groups = new Map<string, Trial[]>()
  for (const trial of trials) groups.set(trial.place.name, [...(groups.get(trial.place.name) ?? []), trial])
  return new Map([...groups.values()].flatMap((members) => (members[0] ? [[members[0].place, members] as const] : [])))
}

/** Hosts that run at once. */
const maxAtOnce = 3

async function eachAtOnce<T>(items: Iterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]()
  const work = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await run(next.value)
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
}
