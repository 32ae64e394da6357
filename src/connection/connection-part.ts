/**
 * A part of a connection that is called by timers or turns of the event loop, directly under the runtime.
 * What it throws there ends the connection, not the process.
 */
export abstract class ConnectionPart<Host extends { onBroken(error: Error): void }> {
  protected readonly host: Host

  constructor(host: Host) {
    this.host = host
  }

  onBroken(error: Error): void {
    this.host.onBroken(error)
  }
}
