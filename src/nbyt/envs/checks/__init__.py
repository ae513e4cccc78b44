"""Does an environment keep its promises? One file for each kind of evidence."""

from nbyt.envs.checks.report import Report as Report
from nbyt.envs.checks.report import check as check
from nbyt.envs.spaces import Fault as Fault
