import { connect } from 'node:net'

// Connects stdin and stdout to a Unix socket, so that the server of a child process runs in the process of the test.
const socket = connect(process.argv[2] ?? '')
process.stdin.pipe(socket).pipe(process.stdout)
