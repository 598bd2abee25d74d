import type { ServerExtension } from '@x/exchange'

// #region resources
/** The member `notes` of a server. */
export interface NotesApi {
  /** Adds the notes of a release, and notifies subscribers of all instances. */
  add(version: string, text: string): Promise<void>
}

/** Serves the notes of each release as a resource. */
export function releaseNotes(): ServerExtension<'notes', NotesApi> {
  return {
    extends: 'server',
    name: 'notes',
    identifier: 'com.example/notes',
    servesResources: true,
    start({ notifyListChanged }) {
      const textByUri = new Map<string, string>()
      const caching = { ttlMs: 60_000, cacheScope: 'public' } as const
      return {
        api: {
          add: async (version, text) => {
            textByUri.set(`notes://${version}`, text)
            await notifyListChanged('resources')
          },
        },
        resources: {
          list: () => ({ resources: [...textByUri.keys()].map((uri) => ({ uri, name: uri })), ...caching }),
          has: (uri) => textByUri.has(uri),
          read: (uri) => {
            const text = textByUri.get(uri)
            return text === undefined ? undefined : { resultType: 'complete', contents: [{ uri, text }], ...caching }
          },
        },
      }
    },
  }
}
// #endregion
