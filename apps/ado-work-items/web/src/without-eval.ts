import { config } from 'zod'

// zod probes for permission to compile code, and the content security policy would report each probe as a violation. It
// probes when a schema is created, so this module is imported before all others.
config({ jitless: true })
