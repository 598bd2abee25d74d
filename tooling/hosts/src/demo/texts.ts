/** What the two servers say, so that a cell of one can be compared with the same cell of the other. */
export const texts = {
  greeting: (name: string): string => `Hello, ${name}!`,
  celsius: 21.5,
  uri: 'notes://changelog',
  changelog: 'The first release.',
  progress: (file: number): string => `copying file ${file}`,
  progressMs: 1000,
  copied: 'Copied 3 files',
  question: 'Who are you?',
  secondQuestion: 'Which city?',
  booked: (name: string, length: number, city: string): string => `Booked for ${name} (${length}) in ${city}`,
  page: 'Please sign in',
  // Codex declines a page without TLS.
  pageUrl: 'https://localhost:9/sign-in',
  signedIn: 'Signed in',
  failure: 'No seat is left',
  shipped: 'Shipped',
  area: (area: number): string => `The area is ${area}`,
  grown: 'I came later',
  review: (language: string): string => `Review this ${language} program.`,
} as const

/** A red pixel. */
export const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** The settings of a server, from its environment. */
export interface DemoEnvironment {
  /** Undefined over stdio. */
  readonly port: number | undefined
  /** The database that instances share. */
  readonly database: string | undefined
  readonly issuer: string | undefined
  readonly resourceUrl: string | undefined
  /** The file to which a server writes what no client sees. */
  readonly events: string
  /** The key of `state`. */
  readonly key: string
  /** How many tools there are beside those of the run. */
  readonly many: number
  /** A search replaces the list of tools. */
  readonly searches: boolean
}

export function environment(env: NodeJS.ProcessEnv): DemoEnvironment {
  return {
    port: env['PORT'] === undefined ? undefined : Number(env['PORT']),
    database: env['DATABASE'],
    issuer: env['ISSUER'],
    resourceUrl: env['RESOURCE'],
    events: env['EVENTS'] ?? '/dev/null',
    key: env['KEY'] ?? '',
    many: Number(env['MANY'] ?? 0),
    searches: env['SEARCH'] !== undefined,
  }
}

export function manyTools(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `extra_${index + 1}`)
}
