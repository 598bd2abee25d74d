/**
 * The identifier of the extension, in the capabilities of both sides (seps/2663-tasks-extension, extension identifier).
 */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** The capability that a client declares with each request that may become a task or is about one. */
export const tasksCapability = { extensions: { [tasksExtension]: {} } } as const

/** The `_meta` key that names a task in the persistent workflow of SEP-2322. */
export const relatedTaskKey = 'io.modelcontextprotocol/related-task'
