"""Does an environment keep its promises? One file for each kind of evidence."""

from nbyt.envs.checks.faults import Fault as Fault
from nbyt.envs.checks.report import Report as Report
from nbyt.envs.checks.report import check as check
