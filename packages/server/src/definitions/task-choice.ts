/**
 * Decides whether a call runs as a task: `never`; `allowed` when its client accepts tasks; or `required`, which rejects
 * a client that does not.
 */
export type TaskChoice = 'never' | 'allowed' | 'required'
